//! The comments of a profile that is written: the run that it comes from, and what is missing.
//! The format has no other place for either.

use model::{EventId, Profile, SampleLoss, StackEnd};

/// The comments on an event, a line each.
pub(super) fn of(profile: &Profile, event: EventId) -> Vec<String> {
    let recording = &profile.recording;
    let target = Some(&recording.target).filter(|target| !target.is_empty());
    let circumstances = [("target", target), ("host", recording.host.as_ref()), ("kernel", recording.kernel.as_ref())];
    let circumstances = circumstances.into_iter().filter_map(|(what, is)| Some(format!("{what}: {}", is?)));
    let mut comments: Vec<String> = circumstances.chain(recording.remarks.iter().cloned()).collect();
    comments.extend(profile.losses.iter_of(event).map(|(reason, count)| match reason {
        SampleLoss::RingFull => format!("{count} samples {}", reason.sentence()),
        _ => format!("{count} {}", reason.sentence()),
    }));
    if profile.losses.throttled > 0 {
        let (times, span) = (profile.losses.throttled, profile.losses.throttled_time);
        comments.push(format!("held back by the kernel {times} times, for {span:?} in all"));
    }
    let ends = profile.stack_ends(event).into_iter();
    let cut = ends.filter(|(end, _)| !matches!(end, StackEnd::Bottom | StackEnd::Unknown));
    comments.extend(cut.map(|(end, count)| format!("{count} stacks {}", end.sentence())));
    comments
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::Id as _;
    use model::{CodeKind, Detail, EventDescription, SampleRow};
    use std::time::Duration;

    #[test]
    fn the_run_and_what_is_missing_are_told() {
        let mut profile = Profile::new(Detail::Counts);
        profile.events.push(EventDescription::plain_samples());
        let event = EventId::from_index(0);
        assert_eq!(of(&profile, event), Vec::<String>::new());
        let f = profile.add_symbol("f", CodeKind::User, false);
        let stack = profile.stacks.intern(StackEnd::CopyTooShort, [f]);
        profile.samples.push(SampleRow { time: None, task: None, cpu: None, event, stack, weight: 3, count: 3 });
        profile.recording.target = "./server".into();
        profile.recording.kernel = Some("6.1.0".into());
        profile.recording.remarks.push("cpu-clock stands in for cycles".into());
        profile.losses.add(SampleLoss::RingFull, 104);
        profile.losses.add(SampleLoss::Damaged, 2);
        profile.losses.throttled = 2;
        profile.losses.throttled_time = Duration::from_millis(12);
        assert_eq!(
            of(&profile, event),
            [
                "target: ./server",
                "kernel: 6.1.0",
                "cpu-clock stands in for cycles",
                "104 samples lost: the ring buffer was full",
                "2 damaged records skipped",
                "held back by the kernel 2 times, for 12ms in all",
                "3 stacks cut: deeper than the copied bytes",
            ]
        );
    }
}
