//! The samples of a profile, in columns. Rows are gathered in chunks; a full chunk is packed
//! ([`PackedColumn`]), so that a sample takes about ten bytes and 50 million fit in memory.
//! Where no output needs time, equal samples are counted instead and take nothing at all.

use crate::id::Id;
use crate::packed::PackedColumn;
use crate::profile::Detail;
use crate::{Cpu, EventId, StackId, TaskId, Time};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// One sample, or several equal ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleRow {
    /// When; `None` where the input does not say or samples were counted together.
    pub time: Option<Time>,
    /// The thread; `None` where the input does not say.
    pub task: Option<TaskId>,
    /// The CPU; `None` where the input does not say or samples were counted together.
    pub cpu: Option<Cpu>,
    /// The event that fired.
    pub event: EventId,
    /// Where the thread was.
    pub stack: StackId,
    /// How much of the event, in its unit and the profile's scale.
    pub weight: u64,
    /// How many samples.
    pub count: u64,
}

const COLUMNS: usize = 7;
/// Small enough that the times of a chunk seldom spread over more than four bytes (4.3 s),
/// large enough that the chunk's own 280 bytes do not show.
const CHUNK_ROWS: usize = 4096;

#[derive(Clone, Debug)]
struct Chunk {
    columns: [PackedColumn; COLUMNS],
    rows: usize,
}

type CountKey = (Option<TaskId>, EventId, StackId);

/// All samples of a profile.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    detail: Detail,
    sealed: Vec<Chunk>,
    open: [Vec<u64>; COLUMNS],
    counted: IndexMap<CountKey, (u64, u64), FxBuildHasher>,
}

impl Samples {
    /// No samples yet; `detail` says what is kept of those to come.
    pub fn new(detail: Detail) -> Self {
        Self { detail, ..Self::default() }
    }

    /// What is kept of a sample.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// Adds a sample.
    pub fn push(&mut self, row: SampleRow) {
        match self.detail {
            Detail::Timeline => self.push_row(row),
            Detail::Counts => self.count_row(row),
        }
    }

    fn count_row(&mut self, row: SampleRow) {
        let (weight, count) = self.counted.entry((row.task, row.event, row.stack)).or_insert((0, 0));
        match (weight.checked_add(row.weight), count.checked_add(row.count)) {
            (Some(new_weight), Some(new_count)) => (*weight, *count) = (new_weight, new_count),
            // A sum beyond 64 bits continues in a row of its own.
            _ => self.push_row(SampleRow { time: None, cpu: None, ..row }),
        }
    }

    fn push_row(&mut self, row: SampleRow) {
        for (column, value) in self.open.iter_mut().zip(encode(row)) {
            column.push(value);
        }
        if self.open[0].len() == CHUNK_ROWS {
            let columns = std::array::from_fn(|index| PackedColumn::new(&self.open[index]));
            self.sealed.push(Chunk { columns, rows: CHUNK_ROWS });
            self.open.iter_mut().for_each(Vec::clear);
        }
    }

    /// All samples, in the order in which they came where time is kept.
    pub fn iter(&self) -> impl Iterator<Item = SampleRow> + '_ {
        let sealed = self
            .sealed
            .iter()
            .flat_map(|chunk| (0..chunk.rows).map(|row| std::array::from_fn(|index| chunk.columns[index].get(row))));
        let open = (0..self.open[0].len()).map(|row| std::array::from_fn(|index| self.open[index][row]));
        let counted = self.counted.iter().map(|(&(task, event, stack), &(weight, count))| SampleRow {
            time: None,
            task,
            cpu: None,
            event,
            stack,
            weight,
            count,
        });
        sealed.chain(open).map(decode).chain(counted)
    }

    /// The number of rows, of which each stands for one or more samples.
    pub fn rows(&self) -> usize {
        self.sealed.iter().map(|chunk| chunk.rows).sum::<usize>() + self.open[0].len() + self.counted.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// The memory that the columns take, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let sealed: usize = self.sealed.iter().flat_map(|chunk| &chunk.columns).map(PackedColumn::memory_bytes).sum();
        let open: usize = self.open.iter().map(|column| column.capacity() * size_of::<u64>()).sum();
        sealed + open + self.counted.capacity() * (size_of::<CountKey>() + 4 * size_of::<u64>())
    }
}

/// An option as a number: 0 is none, all else is one more than the value.
fn optional(value: Option<u64>) -> u64 {
    value.map_or(0, |value| value.saturating_add(1))
}

fn encode(row: SampleRow) -> [u64; COLUMNS] {
    [
        optional(row.time.map(Time::as_ns)),
        optional(row.task.map(|task| task.index() as u64)),
        optional(row.cpu.map(|cpu| u64::from(cpu.0))),
        row.event.index() as u64,
        row.stack.index() as u64,
        row.weight,
        row.count,
    ]
}

fn decode([time, task, cpu, event, stack, weight, count]: [u64; COLUMNS]) -> SampleRow {
    SampleRow {
        time: time.checked_sub(1).map(Time::from_ns),
        task: task.checked_sub(1).map(|index| TaskId::from_index(index as usize)),
        cpu: cpu.checked_sub(1).map(|cpu| Cpu(cpu as u32)),
        event: EventId::from_index(event as usize),
        stack: StackId::from_index(stack as usize),
        weight,
        count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u64) -> SampleRow {
        SampleRow {
            time: Some(Time::from_ns(5_000_000_000_000 + n * 500_000)),
            task: Some(TaskId::from_index((n * 7 % 30) as usize)),
            cpu: Some(Cpu((n % 2) as u32)),
            event: EventId::from_index(0),
            stack: StackId::from_index((n * 7919 % 100_000) as usize),
            weight: 1_003_009,
            count: 1,
        }
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        let mut samples = Samples::new(Detail::Timeline);
        let mut rows: Vec<_> = (0..10_000).map(row).collect();
        rows[5].time = None;
        rows[6].task = None;
        rows[9_999].cpu = None;
        rows[4_100].weight = u64::MAX;
        rows.iter().for_each(|&row| samples.push(row));
        assert_eq!(samples.rows(), rows.len());
        assert!(samples.iter().eq(rows));
    }

    /// 50 million samples over 30 threads and 100,000 stacks must fit in 2 GB; a fiftieth of
    /// them shows the bytes a sample. `truth_fifty_million` pushes them all.
    #[test]
    fn a_sample_takes_few_bytes() {
        assert!(bytes_of(1_000_000) < 2_000_000_000 / 50);
    }

    #[test]
    #[ignore = "slow: run by `make truth`"]
    fn truth_fifty_million() {
        assert!(bytes_of(50_000_000) < 2_000_000_000);
    }

    fn bytes_of(count: u64) -> usize {
        let mut samples = Samples::new(Detail::Timeline);
        (0..count).for_each(|n| samples.push(row(n)));
        samples.memory_bytes()
    }

    #[test]
    fn counted_samples_take_no_memory_each() {
        let mut samples = Samples::new(Detail::Counts);
        (0..1_000_000)
            .for_each(|n| samples.push(SampleRow { stack: StackId::from_index((n % 100) as usize), ..row(n) }));
        assert_eq!(samples.iter().map(|row| row.count).sum::<u64>(), 1_000_000);
        assert!(samples.rows() <= 100 * 30);
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        let mut samples = Samples::new(Detail::Counts);
        (0..5).for_each(|_| samples.push(SampleRow { weight: u64::MAX, ..row(1) }));
        assert_eq!(samples.iter().map(|row| u128::from(row.weight)).sum::<u128>(), 5 * u128::from(u64::MAX));
    }
}
