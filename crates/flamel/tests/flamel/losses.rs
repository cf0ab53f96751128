//! What is lost is counted, and told.

use crate::record_command;
use testkit::{KernelSetting, Variant, lock, requires, workload};

#[test]
fn root_twenty_threads_at_9970_hz_lose_nothing() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    let recorded = record_command(&["-F", "9970"], &[program.to_str().unwrap(), "10", "--threads", "20"]);
    assert!(!recorded.finished.stderr.contains("lost"), "{}", recorded.finished.stderr);
    let cpu_ns: f64 = recorded.finished.truth().number("cpu_ns");
    let ratio = recorded.folded.total() as f64 / cpu_ns;
    assert!((0.95..1.05).contains(&ratio), "{ratio} of the CPU time\n{}", recorded.finished);
}

#[test]
fn root_a_tiny_ring_says_how_much_it_lost() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    let recorded = record_command(
        &["-F", "9970", "-m", "16K", "--call-graph", "dwarf", "-e", "cpu-clock"],
        &[program.to_str().unwrap(), "2", "--threads", "2"],
    );
    let lost = lost_of(&recorded.finished.stderr);
    assert!(lost > 0, "{}", recorded.finished.stderr);
    // What came and what was lost together are what the CPU time should have given.
    let cpu_ns: f64 = recorded.finished.truth().number("cpu_ns");
    let period = 1e9 / 9970.0;
    let came = recorded.folded.total() as f64 / period;
    let ratio = (came + lost as f64) * period / cpu_ns;
    assert!((0.95..1.05).contains(&ratio), "{came} came, {lost} lost, {cpu_ns} ns\n{}", recorded.finished);
}

fn lost_of(stderr: &str) -> u64 {
    let line = stderr.lines().find(|line| line.contains("lost: the ring buffer was full"));
    let line = line.unwrap_or_else(|| panic!("no loss is told in:\n{stderr}"));
    let digits = line.split_whitespace().find(|word| word.chars().next().is_some_and(|c| c.is_ascii_digit()));
    digits.unwrap().replace(',', "").parse().unwrap()
}

#[test]
fn root_a_throttled_event_is_slowed_and_its_weights_stay_right() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let _limit = KernelSetting::set("kernel.perf_event_max_sample_rate", "1000");
    let program = workload::SHARES.build(Variant::default());
    let recorded =
        record_command(&["-c", "20000", "-e", "cpu-clock", "--call-graph", "fp"], &[program.to_str().unwrap(), "2"]);
    let stderr = &recorded.finished.stderr;
    assert!(stderr.contains("held `cpu-clock` back"), "{stderr}");
    let seconds = recorded.folded.total() as f64 / 1e9;
    assert!((1.2..2.1).contains(&seconds), "{seconds} s of 2\n{stderr}");
    let lowered = record_command(&["-F", "4000"], &[program.to_str().unwrap(), "1"]);
    assert!(lowered.finished.stderr.contains("max_sample_rate"), "{}", lowered.finished.stderr);
}
