//! From a planned event to the attributes that `perf_event_open` takes.

use std::num::NonZeroU64;

use perf_event_open_sys::bindings::{
    PERF_SAMPLE_ADDR, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CPU, PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_IP,
    PERF_SAMPLE_PERIOD, PERF_SAMPLE_RAW, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, perf_event_attr,
};

use crate::options::{
    DEFAULT_CLOCK_HERTZ, DEFAULT_HERTZ, DEFAULT_IBS_HERTZ, DEFAULT_SPE_INTERVAL, Options, Rate,
};
use crate::pmu::{EventPlan, Source};

/// One way of asking for an event. Kernels and processors differ in what they take, so the ways are
/// tried from the best to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation {
    /// Sees every process of the CPU, rather than the program and its children.
    pub cpu_wide: bool,
    /// Asks for build ids in mapping records (Linux 5.12 and later).
    pub build_ids: bool,
    /// Precision asked for: 3 = no skid at all … 1 = constant skid, 0 = none.
    pub precise: u8,
}

/// The ways to ask for `plan`, best first.
pub fn variations(plan: &EventPlan) -> Vec<Variation> {
    // IBS events could not follow a task before Linux 6.2.
    let scopes: &[bool] = match plan.source {
        Source::AmdIbsOp => &[false, true],
        _ => &[false],
    };
    // Without precision there are no data addresses and the instruction is a wrong one, so a
    // precise event never steps down to level 0.
    let levels: Vec<u8> = match plan.max_precise {
        0 => vec![0],
        max => (1..=max).rev().collect(),
    };
    let mut ways = Vec::new();
    for &cpu_wide in scopes {
        for build_ids in [true, false] {
            ways.extend(levels.iter().map(|&precise| Variation {
                cpu_wide,
                build_ids,
                precise,
            }));
        }
    }
    ways
}

/// Whether after this error another way of asking may still succeed: the kernel did not like *what*
/// was asked, rather than *who* asked.
pub fn may_try_on(errno: i32) -> bool {
    matches!(
        errno,
        libc::EINVAL | libc::EOPNOTSUPP | libc::ENOENT | libc::ENODEV | libc::E2BIG
    )
}

/// The rate to use: the one asked for, or the event's default, as far as the unit and the kernel
/// (`max_sample_rate`, samples a second) take it.
pub fn rate(plan: &EventPlan, options: &Options, max_sample_rate: Option<u64>) -> Rate {
    let default = match plan.source {
        Source::ArmSpe => Rate::Period(nonzero(DEFAULT_SPE_INTERVAL)),
        Source::AmdIbsOp => Rate::Hertz(nonzero(DEFAULT_IBS_HERTZ)),
        Source::IntelMemStores => Rate::Hertz(nonzero(DEFAULT_HERTZ)),
        Source::CpuClock => Rate::Hertz(nonzero(DEFAULT_CLOCK_HERTZ)),
    };
    match (options.rate.unwrap_or(default), plan.source) {
        // SPE knows intervals only; a frequency asked for is answered by its default.
        (Rate::Hertz(_), Source::ArmSpe) => default,
        // IBS counts in steps of 16 and needs at least 144.
        (Rate::Period(period), Source::AmdIbsOp) => {
            const STEP: u64 = 16;
            const LEAST: u64 = 0x90;
            let steps = period.get().max(LEAST).div_ceil(STEP);
            Rate::Period(nonzero(steps.saturating_mul(STEP)))
        }
        (Rate::Hertz(hertz), _) => {
            let most = max_sample_rate.unwrap_or(u64::MAX);
            Rate::Hertz(nonzero(hertz.get().min(most)))
        }
        (asked, _) => asked,
    }
}

fn nonzero(value: u64) -> NonZeroU64 {
    NonZeroU64::new(value).unwrap_or(NonZeroU64::MIN)
}

/// The attributes of `plan` asked for in this way, at a rate from [`rate`].
pub fn attributes(
    plan: &EventPlan,
    way: Variation,
    options: &Options,
    rate: Rate,
) -> perf_event_attr {
    let mut attr = perf_event_attr::default();
    attr.type_ = plan.type_id;
    attr.size = size_of::<perf_event_attr>() as u32;
    attr.config = plan.config[0];
    attr.sample_type = sample_type(plan.source);
    attr.sample_max_stack = options.max_frames;
    attr.__bindgen_anon_3.config1 = plan.config[1];
    attr.__bindgen_anon_4.config2 = plan.config[2];
    match rate {
        Rate::Hertz(hertz) => {
            attr.set_freq(1);
            attr.__bindgen_anon_1.sample_freq = hertz.get();
        }
        Rate::Period(period) => attr.__bindgen_anon_1.sample_period = period.get(),
    }
    attr.set_precise_ip(u64::from(way.precise));
    attr.set_disabled(1);
    attr.set_inherit(u64::from(!way.cpu_wide));
    attr.set_enable_on_exec(u64::from(!way.cpu_wide));
    attr.set_exclude_kernel(u64::from(plan.filters_kernel));
    // The hypervisor bit means something on Power only, and IBS refuses it.
    attr.set_exclude_hv(u64::from(plan.source != Source::AmdIbsOp));
    attr.set_exclude_callchain_kernel(1);
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_build_id(u64::from(way.build_ids));
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
    attr.set_sample_id_all(1);
    // Wake the reader when half of the default ring is full, not at each sample.
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = 128 << 10;
    if plan.uses_aux {
        attr.aux_watermark = 128 << 10;
    }
    attr
}

fn sample_type(source: Source) -> u64 {
    let base = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    let sampled = PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
    u64::from(match source {
        Source::IntelMemStores => base | sampled | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC,
        Source::AmdIbsOp => {
            base | sampled | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_RAW
        }
        Source::CpuClock => base | sampled,
        // The samples come through the AUX area.
        Source::ArmSpe => base,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pmu::CpuList;

    const DEFAULT: Rate = Rate::Hertz(NonZeroU64::MIN);

    fn plan(source: Source, max_precise: u8) -> EventPlan {
        EventPlan {
            source,
            name: "x".into(),
            type_id: 4,
            config: [0x82d0, 1, 2],
            cpus: CpuList(vec![0]),
            max_precise,
            filters_kernel: source != Source::AmdIbsOp,
            uses_aux: source == Source::ArmSpe,
        }
    }

    #[test]
    fn precision_steps_down_but_never_to_none() {
        let ways = variations(&plan(Source::IntelMemStores, 3));
        assert_eq!(
            ways[0],
            Variation {
                cpu_wide: false,
                build_ids: true,
                precise: 3
            }
        );
        assert!(ways.iter().all(|way| way.precise >= 1 && !way.cpu_wide));
        assert_eq!(ways.len(), 6);
    }

    #[test]
    fn ibs_falls_back_to_whole_cpus() {
        let ways = variations(&plan(Source::AmdIbsOp, 0));
        assert!(!ways[0].cpu_wide && ways[3].cpu_wide);
        let attr = attributes(
            &plan(Source::AmdIbsOp, 0),
            ways[3],
            &Options::default(),
            DEFAULT,
        );
        assert_eq!(
            (attr.inherit(), attr.enable_on_exec(), attr.exclude_kernel()),
            (0, 0, 0)
        );
        assert_eq!(attr.exclude_hv(), 0, "IBS takes no exclusions");
    }

    #[test]
    fn permission_errors_end_the_trying() {
        assert!(may_try_on(libc::EOPNOTSUPP) && may_try_on(libc::EINVAL));
        assert!(!may_try_on(libc::EACCES) && !may_try_on(libc::EPERM) && !may_try_on(libc::EBUSY));
    }

    #[test]
    fn store_samples_carry_what_the_first_pass_needs() {
        let plan = plan(Source::IntelMemStores, 3);
        let attr = attributes(&plan, variations(&plan)[0], &Options::default(), DEFAULT);
        for field in [
            PERF_SAMPLE_ADDR,
            PERF_SAMPLE_IP,
            PERF_SAMPLE_TID,
            PERF_SAMPLE_TIME,
            PERF_SAMPLE_CALLCHAIN,
            PERF_SAMPLE_DATA_SRC,
            PERF_SAMPLE_PERIOD,
        ] {
            assert!(attr.sample_type & u64::from(field) != 0);
        }
        assert_eq!(
            (attr.precise_ip(), attr.inherit(), attr.enable_on_exec()),
            (3, 1, 1)
        );
        assert_eq!(
            (attr.disabled(), attr.exclude_kernel(), attr.freq()),
            (1, 1, 1)
        );
    }

    #[test]
    fn spe_is_given_an_interval_even_if_a_frequency_was_asked_for() {
        let hertz = Options {
            rate: Some(Rate::Hertz(nonzero(500))),
            ..Options::default()
        };
        assert_eq!(
            rate(&plan(Source::ArmSpe, 0), &hertz, None),
            Rate::Period(nonzero(DEFAULT_SPE_INTERVAL))
        );
        assert_eq!(
            rate(&plan(Source::CpuClock, 0), &hertz, None),
            Rate::Hertz(nonzero(500))
        );
    }

    #[test]
    fn rates_are_fitted_to_the_unit_and_the_kernel() {
        let asked = |rate| Options {
            rate: Some(rate),
            ..Options::default()
        };
        let ibs = plan(Source::AmdIbsOp, 0);
        assert_eq!(
            rate(&ibs, &asked(Rate::Period(nonzero(1_000))), None),
            Rate::Period(nonzero(1_008))
        );
        assert_eq!(
            rate(&ibs, &asked(Rate::Period(nonzero(1))), None),
            Rate::Period(nonzero(144))
        );
        assert_eq!(
            rate(&ibs, &Options::default(), Some(250)),
            Rate::Hertz(nonzero(250))
        );
        let intel = plan(Source::IntelMemStores, 3);
        assert_eq!(
            rate(&intel, &asked(Rate::Period(nonzero(1_001))), Some(250)),
            Rate::Period(nonzero(1_001))
        );
    }
}
