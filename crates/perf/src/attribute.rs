//! The attribute that the kernel was given, as plain numbers: what records are decoded by and what
//! a recording's header holds.

use perf_event_open_sys::bindings::perf_event_attr;
use records::Attribute;

/// The same attribute.
pub(crate) fn plain(attr: &perf_event_attr) -> Attribute {
    // SAFETY: each of these unions holds integers only, of which the widest is read here, and the
    // structure was made from zeroes: whatever was set last, all bytes are initialised.
    let (period, config1, config2, wakeup) = unsafe {
        (
            attr.__bindgen_anon_1.sample_period,
            attr.__bindgen_anon_3.config1,
            attr.__bindgen_anon_4.config2,
            attr.__bindgen_anon_2.wakeup_watermark,
        )
    };
    Attribute {
        kind: attr.type_,
        config: attr.config,
        period_or_frequency: period,
        sample_type: attr.sample_type,
        read_format: attr.read_format,
        flags: attr._bitfield_1.get(0, 64),
        wakeup,
        breakpoint: attr.bp_type,
        config1,
        config2,
        branch_sample_type: attr.branch_sample_type,
        sample_regs_user: attr.sample_regs_user,
        sample_stack_user: attr.sample_stack_user,
        clockid: attr.clockid,
        sample_regs_intr: attr.sample_regs_intr,
        aux_watermark: attr.aux_watermark,
        sample_max_stack: attr.sample_max_stack,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use records::flag;

    #[test]
    fn bits_and_unions_are_read_as_they_were_set() {
        let mut attr = perf_event_attr { type_: 1, config: 2, ..Default::default() };
        attr.set_freq(1);
        attr.set_comm_exec(1);
        attr.set_precise_ip(2);
        attr.__bindgen_anon_1.sample_freq = 997;
        attr.__bindgen_anon_3.bp_addr = 0xffff_ffff_ffff;
        let plain = plain(&attr);
        assert_eq!((plain.kind, plain.config, plain.period_or_frequency), (1, 2, 997));
        assert_eq!((plain.flags & !(3 << flag::PRECISE_SHIFT)), flag::FREQ | flag::COMM_EXEC);
        assert_eq!((plain.precision(), plain.config1), (2, 0xffff_ffff_ffff));
    }
}
