//! Profiles for the tests, built by hand.

use model::id::Id;
use model::{
    CodeKind, Cpu, Detail, EventDescription, EventId, FileOffset, Frame, Function, Location, LocationAddress,
    LocationId, MappedFile, NameMissing, Profile, SampleLoss, SampleRow, Sampling, StackEnd, TaskId, TaskIds, TaskInfo,
    Time, Unit,
};

/// A profile that grows line by line.
pub(crate) struct Build {
    pub(crate) profile: Profile,
}

impl Build {
    pub(crate) fn new(event: EventDescription) -> Self {
        let mut profile = Profile::new(Detail::Timeline);
        profile.events.push(event);
        Self { profile }
    }

    pub(crate) fn plain() -> Self {
        Self::new(EventDescription::plain_samples())
    }

    pub(crate) fn cpu_clock() -> Self {
        let event =
            EventDescription { name: "cpu-clock".into(), unit: Unit::Nanoseconds, sampling: Sampling::Frequency(997) };
        Self::new(event)
    }

    /// The location of a name with an annotation as folded text has them: `f_[k]`.
    pub(crate) fn location(&mut self, name: &str) -> LocationId {
        let (name, kind, inlined) = match name {
            _ if name.ends_with("_[k]") => (&name[..name.len() - 4], CodeKind::Kernel, false),
            _ if name.ends_with("_[i]") => (&name[..name.len() - 4], CodeKind::User, true),
            _ if name.ends_with("_[j]") => (&name[..name.len() - 4], CodeKind::Jit, false),
            _ => (name, CodeKind::User, false),
        };
        self.profile.add_symbol(name, kind, inlined)
    }

    /// A location in a file, of these functions (innermost first) or of a reason for none.
    pub(crate) fn in_file(&mut self, path: &str, offset: u64, names: Result<&[&str], NameMissing>) -> LocationId {
        let path = self.profile.strings.intern_str(path);
        let mapping = self.profile.mappings.intern(MappedFile { path, build_id: None, version: 0 });
        let address = LocationAddress::File(FileOffset(offset));
        let id = self.profile.add_location(Location { mapping: Some(mapping), address, kind: CodeKind::User });
        match names {
            Err(reason) => self.profile.set_missing(id, reason),
            Ok(names) => {
                let frames: Vec<Frame> = names
                    .iter()
                    .enumerate()
                    .map(|(index, name)| {
                        let name = self.profile.strings.intern_str(name);
                        let function = self.profile.functions.intern(Function { name, file: None });
                        Frame { function, line: 0, inlined: index + 1 < names.len(), offset: None }
                    })
                    .collect();
                self.profile.set_frames(id, &frames);
            }
        }
        id
    }

    pub(crate) fn task(&mut self, name: &str, tid: u32) -> TaskId {
        let name = self.profile.strings.intern_str(name);
        self.profile.tasks.intern(TaskInfo { ids: TaskIds::new(1, tid), generation: 0, name, process_name: name })
    }

    pub(crate) fn push(&mut self, task: Option<TaskId>, end: StackEnd, frames: &[LocationId], weight: u64, count: u64) {
        let stack = self.profile.stacks.intern(end, frames.iter().copied());
        let row = SampleRow {
            time: Some(Time::from_ns(1)),
            task,
            cpu: Some(Cpu(0)),
            event: EventId::from_index(0),
            stack,
            weight,
            count,
        };
        self.profile.samples.push(row);
    }

    /// Adds a line of folded text; a frame `@name` at its start is a thread.
    pub(crate) fn line(&mut self, stack: &str, weight: u64, count: u64) -> &mut Self {
        let mut frames = stack.split(';').peekable();
        let task = frames.next_if(|frame| frame.starts_with('@')).map(|name| self.task(&name[1..], 7));
        let frames: Vec<LocationId> = frames.map(|name| self.location(name)).collect();
        self.push(task, StackEnd::Bottom, &frames, weight, count);
        self
    }
}

pub(crate) fn event() -> EventId {
    EventId::from_index(0)
}

/// A server under load as a profiler would see it: sixty functions, several threads, the
/// kernel, inlined and generated code, nameless code, cut stacks and losses.
pub(crate) fn server() -> Profile {
    const TICK: u64 = 1_003_009;
    let mut build = Build::cpu_clock();
    let accept = "clone3;start_thread;net::Worker::run;net::EventLoop::poll_once";
    let handle = "clone3;start_thread;net::Worker::run;net::EventLoop::dispatch;http::Connection::on_readable";
    let route = "http::Router::handle;<api::orders::List as http::Handler>::call";
    let query = "db::Pool::query;db::Statement::execute;sqlite3_step;sqlite3VdbeExec";
    let stacks = [
        (format!("@worker-1;{accept};epoll_wait;entry_SYSCALL_64_[k];do_syscall_64_[k];do_epoll_wait_[k];ep_poll_[k];schedule_[k];finish_task_switch_[k]"), 412),
        (format!("@worker-1;{accept};epoll_wait;entry_SYSCALL_64_[k];do_syscall_64_[k];do_epoll_wait_[k];ep_send_events_[k]"), 96),
        (format!("@worker-1;{handle};http::parse_request;http::Headers::insert_[i];alloc::raw_vec::RawVec<T>::grow_one;realloc"), 233),
        (format!("@worker-1;{handle};http::parse_request;core::str::from_utf8_[i]"), 318),
        (format!("@worker-1;{handle};http::parse_request"), 187),
        (format!("@worker-1;{handle};{route};{query};sqlite3BtreeNext;moveToLeaf;getAndInitPage"), 644),
        (format!("@worker-1;{handle};{route};{query};sqlite3BtreeNext"), 203),
        (format!("@worker-1;{handle};{route};{query};sqlite3VdbeRecordCompare;vdbeCompareMemString;__memcmp_avx2"), 871),
        (format!("@worker-1;{handle};{route};{query};sqlite3VdbeSerialGet_[i]"), 402),
        (format!("@worker-1;{handle};{route};{query};unixRead;pread64;entry_SYSCALL_64_[k];do_syscall_64_[k];vfs_read_[k];ext4_file_read_iter_[k];filemap_read_[k];copy_page_to_iter_[k]"), 511),
        (format!("@worker-1;{handle};{route};{query};unixRead;pread64;entry_SYSCALL_64_[k];do_syscall_64_[k];vfs_read_[k];ext4_file_read_iter_[k];filemap_read_[k]"), 144),
        (format!("@worker-1;{handle};{route};serde_json::to_writer;serde::Serializer::collect_seq;<Order as serde::Serialize>::serialize;format_escaped_str_[i]"), 718),
        (format!("@worker-1;{handle};{route};serde_json::to_writer;serde::Serializer::collect_seq;<Order as serde::Serialize>::serialize;itoa::Buffer::format_[i]"), 221),
        (format!("@worker-1;{handle};{route};script::Engine::run;JS:*renderRow rows.js:41_[j];JS:~formatPrice price.js:7_[j]"), 342),
        (format!("@worker-1;{handle};{route};script::Engine::run;JS:*renderRow rows.js:41_[j]"), 266),
        (format!("@worker-1;{handle};http::Response::send;writev;entry_SYSCALL_64_[k];do_syscall_64_[k];vfs_writev_[k];sock_write_iter_[k];tcp_sendmsg_[k];tcp_push_[k];__tcp_transmit_skb_[k];ip_queue_xmit_[k];__dev_queue_xmit_[k]"), 603),
        (format!("@worker-1;{handle};http::Response::send;writev;entry_SYSCALL_64_[k];do_syscall_64_[k];vfs_writev_[k];sock_write_iter_[k];tcp_sendmsg_[k];skb_copy_datagram_from_iter_[k]"), 198),
        ("@compactor;clone3;start_thread;db::compact::run;db::compact::merge;zstd::compress;ZSTD_compressBlock_doubleFast;ZSTD_count_[i]".into(), 1240),
        ("@compactor;clone3;start_thread;db::compact::run;db::compact::merge;zstd::compress;HUF_compress4X".into(), 377),
        ("@compactor;clone3;start_thread;db::compact::run;db::compact::merge;db::Bloom::insert;xxh3_64".into(), 288),
        ("@compactor;clone3;start_thread;db::compact::run;fsync;entry_SYSCALL_64_[k];do_syscall_64_[k];ext4_sync_file_[k];jbd2_log_wait_commit_[k]".into(), 77),
        ("@metrics;clone3;start_thread;metrics::Exporter::run;metrics::render;core::fmt::write".into(), 159),
        ("@shopd;_start;__libc_start_main;main;config::load;toml::from_str".into(), 31),
    ];
    for (stack, samples) in &stacks {
        build.line(stack, samples * TICK, *samples);
    }
    let worker = build.task("worker-1", 7);
    let start = build.location("clone3");
    let nameless = [0x10, 0x20].map(|at| build.in_file("/usr/lib/libvendor.so.3", at, Err(NameMissing::Stripped)));
    build.push(Some(worker), StackEnd::Bottom, &[start, nameless[0], nameless[1]], 187 * TICK, 187);
    build.push(Some(worker), StackEnd::CopyTooShort, &[nameless[0]], 140 * TICK, 140);
    let profile = &mut build.profile;
    profile.losses.add(SampleLoss::RingFull, 104);
    profile.losses.throttled = 2;
    profile.losses.throttled_time = std::time::Duration::from_millis(12);
    profile.recording.target = "shopd --port 8080".into();
    profile.recording.duration = Some(std::time::Duration::from_secs(10));
    build.profile
}
