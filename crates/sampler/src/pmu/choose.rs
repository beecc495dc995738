use perf_event_open_sys::bindings::{PERF_COUNT_SW_CPU_CLOCK, PERF_TYPE_SOFTWARE};

use super::{CpuList, FormatError, Inventory, Pmu, apply_terms};

/// What produces the samples; it decides how their records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Intel's `mem-stores` event with PEBS: each sample is a retired store.
    IntelMemStores,
    /// AMD's Instruction-Based Sampling of micro-operations; stores are told by the record.
    AmdIbsOp,
    /// Arm's Statistical Profiling Extension with its store filter, through the AUX area.
    ArmSpe,
    /// The kernel's `cpu-clock`: samples time, not stores. For checking that sampling works at all.
    CpuClock,
}

/// One event to open, on the CPUs it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPlan {
    /// What produces the samples.
    pub source: Source,
    /// Name as perf would write it, `cpu/mem-stores/` say.
    pub name: String,
    /// `perf_event_attr.type`.
    pub type_id: u32,
    /// `config`, `config1` and `config2` of `perf_event_attr`.
    pub config: [u64; 3],
    /// CPUs to open it on.
    pub cpus: CpuList,
    /// Highest `precise_ip` to ask for; 0 where the mechanism has no such levels.
    pub max_precise: u8,
    /// Whether the unit can leave kernel code out itself. AMD IBS cannot before Linux 6.15.
    pub filters_kernel: bool,
    /// Whether it delivers a stream through the AUX area instead of sample records.
    pub uses_aux: bool,
}

/// Plans the best store event of the host: Intel `mem-stores`, else AMD IBS, else Arm SPE; more
/// than one plan on hybrid processors, whose core types are separate units. Empty if there is none.
pub fn choose_store_event(inventory: &Inventory) -> Result<Vec<EventPlan>, FormatError> {
    let intel = plans(inventory, intel_mem_stores)?;
    if !intel.is_empty() {
        return Ok(intel);
    }
    let amd = plans(inventory, amd_ibs_op)?;
    if !amd.is_empty() {
        return Ok(amd);
    }
    plans(inventory, arm_spe)
}

/// Plans the software clock, which every Linux offers.
pub fn clock_event(inventory: &Inventory) -> EventPlan {
    EventPlan {
        source: Source::CpuClock,
        name: "cpu-clock".to_owned(),
        type_id: PERF_TYPE_SOFTWARE,
        config: [u64::from(PERF_COUNT_SW_CPU_CLOCK), 0, 0],
        cpus: inventory.online.clone(),
        max_precise: 0,
        filters_kernel: true,
        uses_aux: false,
    }
}

fn plans(
    inventory: &Inventory,
    plan: impl Fn(&Pmu) -> Option<Result<EventPlan, FormatError>>,
) -> Result<Vec<EventPlan>, FormatError> {
    inventory
        .pmus
        .iter()
        .filter_map(plan)
        .map(|planned| {
            let mut planned = planned?;
            if planned.cpus.0.is_empty() {
                planned.cpus = inventory.online.clone();
            }
            planned
                .cpus
                .0
                .retain(|cpu| inventory.online.0.contains(cpu));
            Ok(planned)
        })
        .collect()
}

fn intel_mem_stores(pmu: &Pmu) -> Option<Result<EventPlan, FormatError>> {
    let terms = pmu.events.get("mem-stores")?;
    pmu.name.starts_with("cpu").then(|| {
        Ok(EventPlan {
            source: Source::IntelMemStores,
            name: format!("{}/mem-stores/", pmu.name),
            type_id: pmu.type_id,
            config: apply_terms(&pmu.formats, terms)?,
            cpus: pmu.cpus.clone().unwrap_or_default(),
            // Kernels before 4.1 do not state the level; the caller steps down until one is taken.
            max_precise: if pmu.max_precise == 0 {
                3
            } else {
                pmu.max_precise
            },
            filters_kernel: true,
            uses_aux: false,
        })
    })
}

fn amd_ibs_op(pmu: &Pmu) -> Option<Result<EventPlan, FormatError>> {
    (pmu.name == "ibs_op").then(|| {
        let software_filter = pmu.formats.contains_key("swfilt");
        let mut terms = Vec::new();
        // Counting dispatched micro-operations rather than cycles makes a sample's weight a number
        // of operations; otherwise slow instructions would look like many.
        terms.extend(pmu.formats.contains_key("cnt_ctl").then_some("cnt_ctl"));
        terms.extend(software_filter.then_some("swfilt"));
        Ok(EventPlan {
            source: Source::AmdIbsOp,
            name: "ibs_op//".to_owned(),
            type_id: pmu.type_id,
            config: apply_terms(&pmu.formats, &terms.join(","))?,
            cpus: CpuList::default(),
            max_precise: 0,
            filters_kernel: software_filter,
            uses_aux: false,
        })
    })
}

fn arm_spe(pmu: &Pmu) -> Option<Result<EventPlan, FormatError>> {
    pmu.name.starts_with("arm_spe_").then(|| {
        // Jitter keeps the sampling interval from beating with a loop's length.
        let terms: Vec<&str> = ["ts_enable", "store_filter", "jitter"]
            .into_iter()
            .filter(|term| *term == "store_filter" || pmu.formats.contains_key(*term))
            .collect();
        Ok(EventPlan {
            source: Source::ArmSpe,
            name: format!("{}/store_filter=1/", pmu.name),
            type_id: pmu.type_id,
            config: apply_terms(&pmu.formats, &terms.join(","))?,
            cpus: pmu.cpus.clone().unwrap_or_default(),
            max_precise: 0,
            filters_kernel: true,
            uses_aux: true,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pmu(name: &str, type_id: u32, formats: &[(&str, &str)]) -> Pmu {
        Pmu {
            name: name.into(),
            type_id,
            formats: formats
                .iter()
                .map(|(term, field)| ((*term).into(), (*field).into()))
                .collect(),
            ..Pmu::default()
        }
    }

    fn host(pmus: Vec<Pmu>) -> Inventory {
        Inventory {
            pmus,
            online: CpuList(vec![0, 1, 2, 3]),
        }
    }

    fn intel(name: &str, cpus: Option<CpuList>) -> Pmu {
        let mut unit = pmu(
            name,
            4,
            &[("event", "config:0-7"), ("umask", "config:8-15")],
        );
        unit.events
            .insert("mem-stores".into(), "event=0xd0,umask=0x82".into());
        unit.cpus = cpus;
        unit.max_precise = 3;
        unit
    }

    #[test]
    fn intel_comes_as_mem_stores_with_the_units_precision() {
        let plans = choose_store_event(&host(vec![intel("cpu", None)])).unwrap();
        assert_eq!(plans.len(), 1);
        assert_eq!(plans[0].source, Source::IntelMemStores);
        assert_eq!(plans[0].config, [0x82d0, 0, 0]);
        assert_eq!((plans[0].max_precise, plans[0].cpus.0.len()), (3, 4));
    }

    #[test]
    fn a_hybrid_processor_gets_one_plan_a_core_type() {
        let plans = choose_store_event(&host(vec![
            intel("cpu_atom", Some(CpuList(vec![2, 3, 9]))),
            intel("cpu_core", Some(CpuList(vec![0, 1]))),
        ]))
        .unwrap();
        let cpus: Vec<_> = plans.iter().map(|plan| plan.cpus.0.clone()).collect();
        assert_eq!(cpus, [vec![2, 3], vec![0, 1]], "offline CPU 9 is left out");
    }

    #[test]
    fn ibs_counts_operations_and_filters_only_where_the_kernel_can() {
        let old = pmu("ibs_op", 11, &[("cnt_ctl", "config:19")]);
        let plan = &choose_store_event(&host(vec![old])).unwrap()[0];
        assert_eq!((plan.config, plan.filters_kernel), ([1 << 19, 0, 0], false));
        let new = pmu(
            "ibs_op",
            11,
            &[("cnt_ctl", "config:19"), ("swfilt", "config2:0")],
        );
        let plan = &choose_store_event(&host(vec![new])).unwrap()[0];
        assert_eq!((plan.config, plan.filters_kernel), ([1 << 19, 0, 1], true));
    }

    #[test]
    fn spe_filters_stores_and_uses_the_aux_area() {
        let spe = pmu(
            "arm_spe_0",
            9,
            &[
                ("ts_enable", "config:0"),
                ("jitter", "config:16"),
                ("store_filter", "config:34"),
            ],
        );
        let plan = &choose_store_event(&host(vec![spe])).unwrap()[0];
        assert_eq!(plan.config[0], 1 | 1 << 16 | 1 << 34);
        assert!(plan.uses_aux);
        let without_filter = pmu("arm_spe_0", 9, &[("ts_enable", "config:0")]);
        assert_eq!(
            choose_store_event(&host(vec![without_filter])),
            Err(FormatError::UnknownTerm("store_filter".into()))
        );
    }

    #[test]
    fn a_machine_with_software_events_only_has_no_store_event() {
        assert_eq!(
            choose_store_event(&host(vec![pmu("software", 1, &[])])),
            Ok(vec![])
        );
    }
}
