use std::path::Path;

use crate::host::HostFacts;
use crate::options::Options;
use crate::pmu::{Inventory, Source, choose_store_event, clock_event};
use crate::session::probe_plan;
use crate::unavailable::{Cause, Unavailable, no_store_event};

/// What this host offers for sampling, found by opening the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    /// The store event, or why there is none.
    pub stores: Result<StoreEvent, Unavailable>,
    /// Whether sampling by the software clock works: false means no privilege, whatever the hardware.
    pub clock: Result<(), Unavailable>,
}

/// A store event that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreEvent {
    /// As perf writes it.
    pub name: String,
    /// What produces the samples.
    pub source: Source,
    /// `precise_ip` level in force; 0 where the mechanism has none (IBS and SPE are exact anyway).
    pub precise_level: u8,
    /// Sees whole CPUs only, so it needs more privilege.
    pub cpu_wide: bool,
}

/// Opens and closes the events this host would sample with.
pub fn probe(host: &HostFacts) -> Counters {
    let inventory = Inventory::read(Path::new("/"));
    let options = Options::default();
    let clock = probe_plan(&clock_event(&inventory), &options, host).map(|_| ());
    let stores = match choose_store_event(&inventory) {
        Err(error) => Err(Unavailable {
            cause: Cause::NoStoreEvent,
            detail: format!("the kernel's description of its store event cannot be used: {error}"),
            fix: None,
        }),
        Ok(plans) => match plans.first() {
            None => Err(no_store_event(host)),
            Some(plan) => probe_plan(plan, &options, host).map(|way| StoreEvent {
                name: plan.name.clone(),
                source: plan.source,
                precise_level: way.precise,
                cpu_wide: way.cpu_wide,
            }),
        },
    };
    Counters { stores, clock }
}
