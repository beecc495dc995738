//! What logs of blocks say of blocks, modules and files.
#![allow(clippy::unwrap_used)] // helpers of tests, too

mod common;

use common::{block_frame, frame, module_frame, process_frame};
use prestore_trace::SiteTable;
use prestore_trace::block::{BlockTable, MetaError, ModuleLoad, meta};
use prestore_trace::record::Special;

#[test]
fn a_block_log_may_come_in_any_parts() {
    let mut log = process_frame(7, 3, 0);
    log.extend(module_frame(0x1000, 0x2000, "/lib/a.so", &[1, 2]));
    log.extend(block_frame(64, 1, 0x1100, &[(1, 0), (0, 0)]));
    log.extend(frame(99, vec![1, 2, 3]));
    let whole = log.len();
    let mut sites = SiteTable::default();
    let mut table = BlockTable::default();
    let mut waiting = Vec::new();
    for byte in &log {
        waiting.push(*byte);
        let n = table.feed(&waiting, &mut sites).unwrap();
        waiting.drain(..n);
    }
    assert_eq!(table.consumed(), whole as u64);
    assert_eq!((table.process().pid, table.process().parent), (7, 3));
    assert_eq!(table.process().inherited, 0);
    let b = table.get(64).unwrap();
    assert_eq!((b.instrs, b.words, b.refs.len()), (3, 1, 2));
    let site = sites.get(b.refs[1].site).unwrap();
    assert_eq!(
        (
            site.offset,
            sites.module(site.module).unwrap().build_id.as_str()
        ),
        (0x104, "0102")
    );
}

#[test]
fn code_outside_modules_and_after_an_unload_is_jit() {
    let mut log = process_frame(7, 3, 0);
    log.extend(module_frame(0x1000, 0x2000, "/lib/a.so", &[]));
    let (mut sites, mut table) = (SiteTable::default(), BlockTable::default());
    table.feed(&log, &mut sites).unwrap();
    let module = |table: &BlockTable, sites: &mut SiteTable, pc| {
        let site = table.site_of(pc, sites);
        let module = sites.get(site).unwrap().module;
        sites.module(module).unwrap().path.clone()
    };
    assert_eq!(module(&table, &mut sites, 0x1fff), "/lib/a.so");
    assert_eq!(module(&table, &mut sites, 0x2000), "[jit:7]");
    table
        .feed(
            &frame(meta::UNLOAD, 0x1000u64.to_le_bytes().to_vec()),
            &mut sites,
        )
        .unwrap();
    assert_eq!(module(&table, &mut sites, 0x1fff), "[jit:7]");
}

#[test]
fn values_beyond_the_block_are_refused() {
    let mut table = BlockTable::default();
    let mut log = process_frame(7, 3, 0);
    let at = log.len() as u64;
    log.extend(block_frame(64, 1, 0x1100, &[(1, 1)]));
    let error = table.feed(&log, &mut SiteTable::default()).unwrap_err();
    let MetaError::Malformed {
        at: found, kind, ..
    } = error;
    assert_eq!((found, kind), (at, meta::BLOCK));
}

#[test]
fn modules_are_found_without_a_table() {
    let mut log = process_frame(7, 3, 0);
    log.extend(module_frame(0x1000, 0x2000, "/lib/a.so", &[0xcd]));
    let whole = log.len();
    log.extend(&module_frame(0, 1, "/cut", &[])[..20]);
    let (modules, consumed) = ModuleLoad::all_in(&log);
    assert_eq!(consumed, whole);
    assert_eq!(modules.len(), 1);
    assert_eq!(
        (modules[0].path.as_str(), modules[0].build_id.as_str()),
        ("/lib/a.so", "cd")
    );
}

#[test]
fn shared_memory_is_known_and_inherited() {
    let mut log = process_frame(1, 0, 0);
    let memory = [0x1000u64, 0x40, 7, 0x2000].map(u64::to_le_bytes);
    log.extend(frame(meta::SHARED, memory.concat()));
    let mut table = BlockTable::default();
    table.feed(&log, &mut SiteTable::default()).unwrap();
    let mut child = BlockTable::default();
    assert!(child.shared().is_empty());
    child.inherit(&table);
    for table in [table, child] {
        let at = [0xfff, 0x1000, 0x103f, 0x1040].map(|addr| table.shared().place(addr));
        assert_eq!(at.map(|at| at.is_some()), [false, true, true, false]);
    }
    let torn = frame(meta::SHARED, vec![0; 24]);
    BlockTable::default()
        .feed(&torn, &mut SiteTable::default())
        .unwrap_err();
}

#[test]
fn mapped_files_are_known_by_number() {
    let mut log = process_frame(1, 0, 0);
    for (number, path, identity) in [(1u64, "/mnt/pool", 5u64), (7, "", 0), (8, "/mnt/to", 6)] {
        let mut payload = number.to_le_bytes().to_vec();
        payload.extend((path.len() as u32).to_le_bytes());
        payload.extend([0; 4]);
        payload.extend(path.as_bytes());
        // What older recordings have ends here.
        if number != 8 {
            payload.resize(payload.len().next_multiple_of(8), 0);
            payload.extend(identity.to_le_bytes());
        }
        log.extend(frame(meta::FILE, payload));
    }
    let mut table = BlockTable::default();
    table.feed(&log, &mut SiteTable::default()).unwrap();
    let file = |number| table.mapped_file(number).map(|f| (&*f.path, f.identity));
    assert_eq!(file(1), Some(("/mnt/pool", Some(5))));
    assert_eq!(file(7), Some(("", None)));
    assert_eq!(file(8), Some(("/mnt/to", None)));
    assert_eq!(file(2), None);
    assert_eq!(table.names_of(5).collect::<Vec<_>>(), ["/mnt/pool"]);
    assert_eq!(table.names_of(6).count(), 0);
    // A length beyond the frame.
    let mut short = 1u64.to_le_bytes().to_vec();
    short.extend([9, 0, 0, 0, 0, 0, 0, 0]);
    let torn = frame(meta::FILE, short);
    let error = BlockTable::default().feed(&torn, &mut SiteTable::default());
    assert!(error.unwrap_err().to_string().contains("too short"));
}

#[test]
fn mappings_are_read_back_as_they_were_written() {
    for writable in [true, false] {
        for special in [
            Special::Mapped {
                addr: 0x7000,
                size: 4096,
                offset: 8192,
                file: 3,
                writable,
            },
            Special::Synced {
                addr: 0x7000,
                size: 4096,
            },
        ] {
            let mut words = Vec::new();
            special.write(&mut words);
            assert_eq!((words[0] >> 32) as usize, words.len() - 1);
            assert_eq!(Special::parse(words[0] as u32, &words[1..]), special);
        }
    }
}
