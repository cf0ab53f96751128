//! All counters of a run, and the one reader of their rings.
//!
//! ```text
//!  thread × CPU ─┬─ dummy event ──► side-band ring of the CPU ─┐
//!                └─ sampled event ─► sample ring of the CPU ───┴─► Merger ─► events in order
//! ```
//!
//! For the whole system, and for cgroups, there is no thread, and one dummy event a CPU.
//!
//!
//! Mappings, names, forks and exits have rings of their own, so that a flood of samples never
//! crowds them out, and so that they wake the reader at once: a short-lived process's files can
//! be opened only while it lives. A counter that is inherited cannot be mapped for all CPUs at
//! once (EINVAL), which is why there is one for each thread and CPU.

use crate::attribute;
use crate::counter::{Counter, Scope, Whose};
use crate::merge::{Merger, TimePosition};
use crate::pace::{Pace, Slowed};
use crate::ring::Ring;
use model::{Body, Cpu, Event, EventId, Losses, Lost, LostRecords, SampleLoss, Sampling, Throttle, Tid, Time, id::Id};
use perf_event_open_sys::bindings as sys;
use records::{Attribute, Decoded, Header, Layout, decode, registers};
use rustc_hash::FxHashMap;
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Whose work is sampled.
#[derive(Clone, Debug)]
pub enum Observed {
    /// These threads, and what they start if [`Plan::inherit`] says so.
    Threads(Vec<Tid>),
    /// Everything that runs on the CPUs.
    System,
    /// What runs on the CPUs and is in one of these cgroups or below it. None of them may lie
    /// within another, or its samples come twice.
    Cgroups(Vec<Arc<OwnedFd>>),
}

/// When counting begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// When the observed thread execs: a launched command, without what came before it.
    OnExec,
    /// With [`Sampler::enable`]. Side-band records flow from the beginning.
    WhenTold,
}

/// An event to sample, ready to be opened.
#[derive(Clone)]
pub struct SampledEvent {
    /// The attribute, as [`sampling_attr`](crate::sampling_attr) makes it.
    pub attr: sys::perf_event_attr,
    /// How often it is to fire.
    pub sampling: Sampling,
    /// The only CPUs that have it; `None` where all have.
    pub cpus: Option<Vec<Cpu>>,
}

impl SampledEvent {
    /// The attribute as plain numbers.
    pub fn attribute(&self) -> Attribute {
        attribute::plain(&self.attr)
    }
}

/// What to open.
#[derive(Clone)]
pub struct Plan {
    /// The sampled events; at least one.
    pub events: Vec<SampledEvent>,
    /// Whose work is sampled.
    pub observed: Observed,
    /// On which CPUs.
    pub cpus: Vec<Cpu>,
    /// Whether threads and processes that the observed ones start are sampled too.
    pub inherit: bool,
    /// When counting begins.
    pub start: Start,
    /// Samples a second that the kernel allows (`kernel.perf_event_max_sample_rate`).
    pub rate_limit: Option<u64>,
    /// Pages of each CPU's sample ring, a power of two.
    pub sample_pages: usize,
    /// Pages of each CPU's side-band ring, a power of two.
    pub side_band_pages: usize,
}

/// Why a run could not be set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenFailure {
    /// A sampled event was refused.
    Event(EventRefused),
    /// The rings of this many pages a CPU, control pages included, were refused.
    Ring {
        /// Pages that one CPU's rings take.
        pages: usize,
        /// What the kernel answered.
        errno: Errno,
    },
    /// None of the observed threads exists any more.
    NoThread,
}

/// An event that could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventRefused {
    /// The place of the sampled event in [`Plan::events`].
    pub index: usize,
    /// For which thread; `None` where it was not for a single one.
    pub thread: Option<Tid>,
    /// What the kernel answered.
    pub errno: Errno,
}

/// The counters that own a CPU's rings, by their places in the lists of counters; `None` until
/// they are open.
struct CpuRings {
    cpu: Cpu,
    side_band: Option<usize>,
    samples: Option<usize>,
}

struct Sampled {
    event: usize,
    counter: Counter,
}

/// An open run.
pub struct Sampler {
    plan: Plan,
    layouts: Vec<Layout>,
    side_band_layout: Layout,
    reads_lost: bool,
    cpus: Vec<CpuRings>,
    rings: Vec<Ring>,
    sampled: Vec<Sampled>,
    side_band: Vec<Counter>,
    events: FxHashMap<u64, EventId>,
    merger: Merger,
    paces: Vec<Pace>,
    slowed_at: Option<Time>,
    losses: Losses,
    throttled_since: FxHashMap<(usize, Option<Cpu>), Time>,
    told_lost: u64,
    told_side_band_lost: u64,
}

/// A record's time is taken a little before the record can be seen in the ring.
const COMMIT_SLACK: Duration = Duration::from_millis(2);
/// After a change of pace, give the kernel time to show whether that was enough.
const PACE_PATIENCE: Duration = Duration::from_millis(20);

impl Sampler {
    /// Opens everything that `plan` asks for, disabled, on threads that exist.
    pub fn open(plan: Plan) -> Result<Self, OpenFailure> {
        let side_band_attr = side_band_attr(&plan);
        let mut sampler = Self {
            layouts: plan.events.iter().map(|event| Layout::of(&event.attribute(), registers::NATIVE)).collect(),
            side_band_layout: Layout::of(&attribute::plain(&side_band_attr), registers::NATIVE),
            reads_lost: true,
            cpus: plan.cpus.iter().map(|&cpu| CpuRings { cpu, side_band: None, samples: None }).collect(),
            rings: Vec::new(),
            sampled: Vec::new(),
            side_band: Vec::new(),
            events: FxHashMap::default(),
            merger: Merger::new(TIME_POSITION),
            paces: plan.events.iter().map(Pace::of).collect(),
            slowed_at: None,
            losses: Losses::default(),
            throttled_since: FxHashMap::default(),
            told_lost: 0,
            told_side_band_lost: 0,
            plan,
        };
        match sampler.plan.observed.clone() {
            Observed::System => sampler.open_on_cpus(Whose::Everybody, &[Whose::Everybody])?,
            Observed::Cgroups(folders) => {
                let cgroups: Vec<Whose<'_>> = folders.iter().map(|folder| Whose::Cgroup(folder.as_fd())).collect();
                // A process may have been started, and have mapped its files, before it came into
                // the cgroup: its records are wanted from wherever it is.
                sampler.open_on_cpus(Whose::Everybody, &cgroups)?;
            }
            Observed::Threads(threads) => {
                let mut open = 0;
                for thread in threads {
                    open += usize::from(sampler.add_thread(thread)?);
                }
                if open == 0 {
                    return Err(OpenFailure::NoThread);
                }
            }
        }
        Ok(sampler)
    }

    /// Observes one more thread; false where it is gone already.
    pub fn add_thread(&mut self, thread: Tid) -> Result<bool, OpenFailure> {
        let whose = Whose::Thread(thread);
        match self.open_on_cpus(whose, &[whose]) {
            Ok(()) => Ok(true),
            Err(OpenFailure::Event(EventRefused { errno: Errno::SRCH, .. })) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    fn open_on_cpus(&mut self, side_band: Whose<'_>, sampled: &[Whose<'_>]) -> Result<(), OpenFailure> {
        for index in 0..self.cpus.len() {
            let cpu = Some(self.cpus[index].cpu);
            self.open_side_band(index, Scope { whose: side_band, cpu })?;
            for &whose in sampled {
                for event in 0..self.plan.events.len() {
                    self.open_sampled(index, event, Scope { whose, cpu })?;
                }
            }
        }
        Ok(())
    }

    fn open_side_band(&mut self, index: usize, scope: Scope<'_>) -> Result<(), OpenFailure> {
        let counter = self.open_counter(side_band_attr(&self.plan), scope).map_err(|errno| refused(0, scope, errno))?;
        match self.cpus[index].side_band {
            Some(owner) => counter.join_output_of(&self.side_band[owner]).map_err(|errno| self.ring_failure(errno))?,
            None => {
                let ring = Ring::map(&counter, self.plan.side_band_pages).map_err(|errno| self.ring_failure(errno))?;
                self.rings.push(ring);
                self.cpus[index].side_band = Some(self.side_band.len());
            }
        }
        self.side_band.push(counter);
        Ok(())
    }

    fn open_sampled(&mut self, index: usize, event: usize, scope: Scope<'_>) -> Result<(), OpenFailure> {
        if self.plan.events[event].cpus.as_ref().is_some_and(|cpus| !cpus.contains(&self.cpus[index].cpu)) {
            return Ok(());
        }
        let attr = self.plan.events[event].attr;
        let counter = self.open_counter(attr, scope).map_err(|errno| refused(event, scope, errno))?;
        self.events.insert(counter.id(), EventId::from_index(event));
        match self.cpus[index].samples {
            Some(owner) => {
                counter.join_output_of(&self.sampled[owner].counter).map_err(|errno| self.ring_failure(errno))?;
            }
            None => {
                let ring = Ring::map(&counter, self.plan.sample_pages).map_err(|errno| self.ring_failure(errno))?;
                self.rings.push(ring);
                self.cpus[index].samples = Some(self.sampled.len());
            }
        }
        self.sampled.push(Sampled { event, counter });
        Ok(())
    }

    /// Opens a counter, without the count of lost records where the kernel (before 6.0) refuses
    /// to keep it.
    fn open_counter(&mut self, mut attr: sys::perf_event_attr, scope: Scope<'_>) -> Result<Counter, Errno> {
        if self.reads_lost {
            attr.read_format = u64::from(sys::PERF_FORMAT_LOST);
            match Counter::open(&attr, scope) {
                Err(Errno::INVAL) if self.sampled.is_empty() && self.side_band.is_empty() => self.reads_lost = false,
                opened => return opened,
            }
        }
        attr.read_format = 0;
        Counter::open(&attr, scope)
    }

    fn ring_failure(&self, errno: Errno) -> OpenFailure {
        OpenFailure::Ring { pages: self.plan.sample_pages + self.plan.side_band_pages + 2, errno }
    }

    /// The threads that were started since the counters were opened, by threads whose counters
    /// were: they have inherited them. Nothing is given out by it.
    pub fn inheritors(&mut self) -> Vec<Tid> {
        self.merger.scan(&mut self.rings);
        let mut threads = Vec::new();
        let (layout, no_event) = (&self.side_band_layout, |_| None);
        self.merger.peek(&self.rings, |record| {
            let is_fork = Header::of(record[0]).kind == sys::PERF_RECORD_FORK;
            if let (true, Decoded::Event(event)) = (is_fork, decode(record, layout, no_event)) {
                threads.push(event.task.tid);
            }
        });
        threads
    }

    /// Begins to count.
    pub fn enable(&self) -> rustix::io::Result<()> {
        all(self.sampled.iter().map(|sampled| sampled.counter.enable()))
    }

    /// Ends counting. What is in the rings can still be read.
    pub fn disable(&self) -> rustix::io::Result<()> {
        all(self.sampled.iter().map(|sampled| sampled.counter.disable()))
    }

    /// What to wait on: each becomes readable when its ring has filled to its watermark.
    pub fn wake_ups(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.cpus.iter().flat_map(|cpu| {
            let samples = cpu.samples.map(|owner| self.sampled[owner].counter.as_fd());
            let side_band = cpu.side_band.map(|owner| self.side_band[owner].as_fd());
            samples.into_iter().chain(side_band)
        })
    }

    /// Reads all rings once and gives out, in order, what is surely complete. A change of pace
    /// that this made necessary is returned, to be told to the user.
    pub fn drain(&mut self, mut sink: impl FnMut(Event<'_>)) -> Option<Slowed> {
        let pass_began = crate::now();
        self.merger.scan(&mut self.rings);
        self.release(pass_began.saturating_sub(COMMIT_SLACK), &mut sink)
    }

    /// Reads what is left after [`Self::disable`] and gives out everything, then the records
    /// that were lost without the kernel having had room to say so.
    pub fn finish(&mut self, mut sink: impl FnMut(Event<'_>)) -> Losses {
        self.merger.scan(&mut self.rings);
        let end = crate::now();
        self.release(Time::from_ns(u64::MAX), &mut sink);
        for since in std::mem::take(&mut self.throttled_since).into_values() {
            self.losses.throttled_time += end.since(since);
        }
        // The kernel's own counts are whole; records of losses need room to be written.
        let lost = |counter: &Counter| counter.lost(self.reads_lost).ok().flatten();
        let of_side_band: u64 = self.side_band.iter().filter_map(lost).sum();
        let mut of_samples = 0;
        for sampled in &self.sampled {
            let lost = lost(&sampled.counter).unwrap_or(0);
            of_samples += lost;
            self.losses.add_of(EventId::from_index(sampled.event), SampleLoss::RingFull, lost);
        }
        self.losses.add(SampleLoss::RingFull, self.told_lost.saturating_sub(of_samples));
        self.losses.add(SampleLoss::SideBandLost, of_side_band.max(self.told_side_band_lost));
        self.losses.add(SampleLoss::OutOfOrder, self.merger.late);
        self.losses.add(SampleLoss::Damaged, self.merger.damaged);
        std::mem::take(&mut self.losses)
    }

    /// The attributes of the sampled events.
    pub fn attributes(&self) -> Vec<Attribute> {
        self.plan.events.iter().map(SampledEvent::attribute).collect()
    }

    /// Lost samples as far as the kernel has told yet.
    pub fn lost_so_far(&self) -> u64 {
        self.told_lost
    }

    fn release(&mut self, until: Time, sink: &mut impl FnMut(Event<'_>)) -> Option<Slowed> {
        let Self { merger, rings, events, layouts, side_band_layout, losses, paces, .. } = self;
        let (mut told_lost, mut told_side_band_lost) = (0, 0);
        let mut throttles = Vec::new();
        merger.release(until, rings, |record| {
            let layout = layout_of(record, events, layouts, side_band_layout);
            match decode(record, layout, |id| events.get(&id).copied()) {
                Decoded::Event(Event { body: Body::Lost(Lost { count, of }), .. }) => {
                    *(if of == LostRecords::Samples { &mut told_lost } else { &mut told_side_band_lost }) += count;
                }
                Decoded::Event(Event { body: Body::Throttle(throttle), time, cpu, .. }) => {
                    throttles.push((throttle, time, cpu));
                }
                Decoded::Event(mut event) => {
                    if let Body::Sample(sample) = &mut event.body {
                        // A change of pace reaches our own counters and what inherits from them
                        // later, but not what has inherited already.
                        let is_own = record.get(STREAM_ID) == record.get(IDENTIFIER);
                        let corrected = paces[sample.event.index()].corrected(event.time).filter(|_| is_own);
                        sample.period = corrected.unwrap_or(sample.period);
                    }
                    sink(event);
                }
                Decoded::Ignored => {}
                Decoded::Unknown => losses.add(SampleLoss::UnknownRecord, 1),
                Decoded::Damaged => losses.add(SampleLoss::Damaged, 1),
            }
        });
        self.told_lost += told_lost;
        self.told_side_band_lost += told_side_band_lost;
        let mut slowed = None;
        for (throttle, time, cpu) in throttles {
            slowed = self.throttle(throttle, time.unwrap_or_default(), cpu).or(slowed);
        }
        slowed
    }

    /// Counts the time for which an event is held back, and slows it down so that it is not
    /// held back again: evenly spaced samples with a larger period stay true, gaps do not.
    fn throttle(&mut self, throttle: Throttle, time: Time, cpu: Option<Cpu>) -> Option<Slowed> {
        let event = throttle.event?;
        let key = (event.index(), cpu);
        if !throttle.begins {
            let since = self.throttled_since.remove(&key)?;
            self.losses.throttled_time += time.since(since);
            return None;
        }
        self.losses.throttled += 1;
        self.throttled_since.insert(key, time);
        if self.slowed_at.is_some_and(|at| time.since(at) < PACE_PATIENCE) {
            return None;
        }
        let now = crate::now();
        self.slowed_at = Some(now);
        let value = self.paces[event.index()].slow_down(now, self.plan.rate_limit);
        for sampled in self.sampled.iter().filter(|sampled| sampled.event == event.index()) {
            // A thread that ended meanwhile cannot be changed and need not be.
            let _ = sampled.counter.set_period(value);
        }
        let factor = self.paces[event.index()].slower_than(self.plan.events[event.index()].sampling);
        Some(Slowed { event, factor })
    }
}

fn refused(index: usize, scope: Scope<'_>, errno: Errno) -> OpenFailure {
    let thread = match scope.whose {
        Whose::Thread(tid) => Some(tid),
        Whose::Everybody | Whose::Cgroup(_) => None,
    };
    OpenFailure::Event(EventRefused { index, thread, errno })
}

/// Does all of it, and gives the first error.
fn all(results: impl Iterator<Item = rustix::io::Result<()>>) -> rustix::io::Result<()> {
    // Collected first, so that an error does not end it early.
    results.collect::<Vec<_>>().into_iter().collect()
}

/// The attribute of the dummy event that only brings side-band records.
fn side_band_attr(plan: &Plan) -> sys::perf_event_attr {
    let mut attr = sys::perf_event_attr {
        type_: sys::PERF_TYPE_SOFTWARE,
        config: u64::from(sys::PERF_COUNT_SW_DUMMY),
        sample_type: ID_FIELDS,
        clockid: libc::CLOCK_MONOTONIC,
        ..Default::default()
    };
    attr.set_use_clockid(1);
    attr.set_sample_id_all(1);
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
    attr.set_inherit(plan.inherit.into());
    // It counts nothing, so that it may run where kernel events may not be sampled.
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(1);
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = 1;
    if plan.start == Start::OnExec {
        attr.set_disabled(1);
        attr.set_enable_on_exec(1);
    }
    attr
}

/// The fields that every record carries, at its start or at its end; every attribute asks for
/// them, so that the time stands at the same place in all of them.
pub(crate) const ID_FIELDS: u64 = (sys::PERF_SAMPLE_IDENTIFIER
    | sys::PERF_SAMPLE_TID
    | sys::PERF_SAMPLE_TIME
    | sys::PERF_SAMPLE_STREAM_ID
    | sys::PERF_SAMPLE_CPU) as u64;

/// In samples: header, identifier, instruction pointer, task, time. At the end of other
/// records: time, stream id, CPU, identifier.
const TIME_POSITION: TimePosition = TimePosition { in_samples: 4, from_end: 4 };
/// Where samples have the id of the event that was opened, and the id of the one that fired,
/// which differ for what was inherited.
const IDENTIFIER: usize = 1;
const STREAM_ID: usize = 5;

/// Samples hold their event's id in the second word, all else follows the common fields.
fn layout_of<'a>(
    record: &[u64],
    events: &FxHashMap<u64, EventId>,
    layouts: &'a [Layout],
    side_band: &'a Layout,
) -> &'a Layout {
    record
        .get(1)
        .filter(|_| Header::of(record[0]).is_sample())
        .and_then(|id| events.get(id))
        .map_or(side_band, |event| &layouts[event.index()])
}
