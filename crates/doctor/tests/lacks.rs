//! Each lack shows its cause and its one cure, on any machine: the facts are given, not read.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail the test

mod hosts;

use std::path::PathBuf;

use hosts::{feature, healthy, lacking};
use prestore::MapError;
use prestore_doctor::{
    Check, Diagnosis, Engine, Facts, FeatureName, Space, Status, examine, render,
};
use prestore_sampler::{Cause, Counters, Refusal, Unavailable, diagnose, no_store_event};

fn check(facts: &Facts, name: &str) -> Check {
    examine(facts).check(name).unwrap().clone()
}

#[test]
fn a_healthy_host_lacks_nothing() {
    let diagnosis = examine(&healthy());
    for check in &diagnosis.checks {
        assert_eq!(check.status, Status::Ok, "{check:?}");
        assert_eq!(
            (&check.cause, &check.fix, &check.no_fix),
            (&None, &None, &None)
        );
    }
    assert!(diagnosis.can_record());
}

#[test]
fn every_lack_has_a_cause_and_either_one_command_or_the_reason_why_none() {
    for (name, facts) in lacking() {
        let check = check(&facts, name);
        assert_ne!(check.status, Status::Ok, "{name}");
        assert!(check.cause.is_some(), "{check:?}");
        assert!(check.fix.is_some() != check.no_fix.is_some(), "{check:?}");
        let others = examine(&facts)
            .checks
            .into_iter()
            .filter(|c| c.name != name);
        for other in others {
            assert_eq!(other.status, Status::Ok, "{name} must not spoil {other:?}");
        }
    }
}

#[test]
fn a_virtual_machine_without_counters_is_told_that_everything_works_without() {
    let mut facts = healthy();
    facts.host.virtual_machine = true;
    facts.counters.stores = Err(no_store_event(&facts.host));
    let check = check(&facts, "store-sampling");
    assert_eq!(check.status, Status::Missing);
    assert!(check.detail.contains("exact counts"));
    assert!(check.cause.unwrap().contains("virtual"));
    assert_eq!(check.fix, None);
    let instead = check.no_fix.unwrap();
    assert!(instead.contains("bare metal") && instead.contains("works without"));
    assert!(examine(&facts).can_record());
}

#[test]
fn a_paranoid_kernel_is_mended_by_one_sysctl() {
    let mut facts = healthy();
    facts.host.paranoid = Some(4);
    let refusal = Refusal {
        errno: libc::EACCES,
        cpu_wide: false,
        with_kernel: false,
    };
    let why: Unavailable = diagnose(refusal, &facts.host);
    assert_eq!(why.cause, Cause::Paranoid);
    facts.counters = Counters {
        stores: Err(why.clone()),
        clock: Err(why),
    };
    for name in ["perf-events", "store-sampling"] {
        let check = check(&facts, name);
        assert!(check.cause.unwrap().contains("perf_event_paranoid is 4"));
        assert_eq!(
            check.fix.as_deref(),
            Some("sudo sysctl kernel.perf_event_paranoid=2")
        );
    }
}

#[test]
fn dockers_small_shared_memory_is_mended_by_its_own_switch() {
    let mut facts = healthy();
    facts.host.container = Some("docker".into());
    facts.shared_memory = Some(Space {
        free: 64 << 20,
        total: 64 << 20,
    });
    let small = check(&facts, "shared-memory");
    assert_eq!(small.status, Status::Degraded);
    assert!(small.cause.unwrap().contains("64.0 MiB"));
    assert_eq!(small.fix.as_deref(), Some("docker run --shm-size=1g …"));
    facts.host.container = None;
    let bare = check(&facts, "shared-memory");
    assert_eq!(
        bare.fix.as_deref(),
        Some("sudo mount -o remount,size=1G /dev/shm")
    );
}

#[test]
fn a_missing_engine_names_where_it_was_looked_for_and_stops_recording() {
    let mut facts = healthy();
    facts.engine = Engine::NotFound {
        looked_in: vec![PathBuf::from("/a"), PathBuf::from("/b")],
        fix: "make".into(),
    };
    let diagnosis: Diagnosis = examine(&facts);
    assert!(!diagnosis.can_record());
    let cause = diagnosis.check("engine").unwrap().cause.clone().unwrap();
    assert!(cause.contains("/a, /b"));
    assert_eq!(check(&facts, "engine").fix.as_deref(), Some("make"));
}

#[test]
fn ptrace_is_said_not_to_be_needed() {
    assert!(check(&healthy(), "ptrace").detail.contains("not needed"));
}

#[test]
fn the_text_has_aligned_columns_with_cause_and_fix_below() {
    let mut facts = healthy();
    facts.cpu = feature(FeatureName::Clwb, false, false);
    facts.memory.perf_mlock_kib = Some(0);
    facts.memory.lock_limit = Some(0);
    let text = render(&examine(&facts), 80);
    let column = |needle: &str| {
        let line = text.lines().find(|line| line.contains(needle)).unwrap();
        line.find(needle).unwrap()
    };
    assert_eq!(column("DynamoRIO"), column("not needed"));
    assert_eq!(column("cause: the processor lacks it"), column("DynamoRIO"));
    assert_eq!(
        column("fix:   sudo sysctl kernel.perf_event_mlock_kb"),
        column("DynamoRIO")
    );
    assert_eq!(
        column("fix:   no command; a newer processor"),
        column("DynamoRIO")
    );
    let prose = text.lines().filter(|line| !line.contains("fix:   sudo"));
    assert!(
        prose.max_by_key(|line| line.len()).unwrap().len() <= 80,
        "{text}"
    );
}

#[test]
fn the_json_form_has_its_version_and_keys() {
    let mut facts = healthy();
    facts.cpu = feature(FeatureName::Clwb, false, false);
    let json = serde_json::to_value(examine(&facts)).unwrap();
    assert_eq!(json["schema_version"], 1);
    let clwb = json["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["name"] == "clwb")
        .unwrap();
    assert_eq!(clwb["status"], "missing");
    for key in ["detail", "cause", "fix", "no_fix"] {
        assert!(clwb.get(key).is_some(), "{key}");
    }
    let back: Diagnosis = serde_json::from_value(json).unwrap();
    assert_eq!(back, examine(&facts));
}

#[test]
fn this_host_can_be_examined() {
    let engine = Engine::NotFound {
        looked_in: vec!["/usr/lib/prestore".into()],
        fix: "make".into(),
    };
    let diagnosis = examine(&Facts::gather(engine, &std::env::temp_dir()));
    println!("{}", render(&diagnosis, 80));
    for check in diagnosis.checks {
        assert_eq!(
            check.status == Status::Ok,
            check.cause.is_none(),
            "{check:?}"
        );
    }
}

#[test]
fn the_module_for_memory_types_is_said_to_lack_and_how_to_get_it() {
    let mut facts = healthy();
    facts.memory_types = Err(MapError::of(libc::ENOENT));
    let check = check(&facts, "memory-types");
    assert_eq!(check.status, Status::Missing);
    assert!(check.cause.unwrap().contains("not loaded"));
    let fix = check.fix.unwrap();
    assert!(fix.contains("dkms install prestore/") && fix.ends_with("modprobe prestore"));
    assert!(examine(&facts).can_record());
}
