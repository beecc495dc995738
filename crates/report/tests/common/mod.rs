//! A made-up program with known names, shared by the tests.
#![allow(dead_code, missing_docs)]

pub mod schema;

use prestore_dirtbuster::{
    ContextClass, Dismissed, Distance, FenceDistance, Finding, Findings, LineShare, Pitfall,
    PitfallKind, Streams, TimeEstimate, Verdict,
};
use prestore_report::{Frame, Place, Report, Resolver, Run, SiteKind, ThreadTotals};
use prestore_trace::SiteId;
use std::collections::HashMap;

pub const CWD: &str = "/home/ada/kv";

/// Sites by number; a return address resolves to the place registered for it.
#[derive(Default)]
pub struct FakeSymbols {
    places: HashMap<u32, Place>,
    returns: HashMap<u32, Place>,
}

impl FakeSymbols {
    pub fn at(mut self, site: u32, module: &str, frames: &[(&str, &str, u32)]) -> Self {
        self.places.insert(site, place(site, module, frames));
        self
    }

    pub fn returning(mut self, site: u32, module: &str, frames: &[(&str, &str, u32)]) -> Self {
        self.returns.insert(site, place(site, module, frames));
        self
    }
}

fn place(site: u32, module: &str, frames: &[(&str, &str, u32)]) -> Place {
    Place {
        module: module.into(),
        build_id: "c0ffee".into(),
        offset: 0x1000 + u64::from(site),
        frames: frames
            .iter()
            .map(|&(function, file, line)| Frame {
                function: Some(function.into()),
                file: (!file.is_empty()).then(|| file.into()),
                line: (line > 0).then_some(line),
            })
            .collect(),
    }
}

impl Resolver for FakeSymbols {
    fn resolve(&mut self, site: SiteId, kind: SiteKind) -> Option<Place> {
        match kind {
            SiteKind::Instruction => self.places.get(&site.0).cloned(),
            SiteKind::ReturnAddress => self.returns.get(&site.0).cloned(),
        }
    }
}

pub fn finding(verdict: Verdict, sites: &[(u32, u64)]) -> Finding {
    let stores = sites.iter().map(|s| s.1).sum();
    Finding {
        sites: sites
            .iter()
            .map(|&(site, stores)| LineShare {
                site: SiteId(site),
                stores,
            })
            .collect(),
        call_chain: Vec::new(),
        entered: false,
        generic_writer: false,
        verdict,
        reason: "because of the figures".into(),
        stores,
        store_bytes: stores * 8,
        dismissed: None,
        cache_limit: None,
        written_once: false,
        lines_to_memory: stores / 8,
        stretches: 0,
        write_share: 0.25,
        time_share: 0.125,
        store_share: 0.25,
        sequential_share: 1.0,
        contexts: Vec::new(),
        reread: Distance::default(),
        rewrite: Distance::default(),
        reread_near: Distance::default(),
        rewrite_near: Distance::default(),
        streams: Streams::default(),
        fence_distance: FenceDistance::default(),
        allocations: Vec::new(),
    }
}

pub fn context(bytes: u64, share: f64, reread: Option<f64>, rewrite: Option<f64>) -> ContextClass {
    let distance = |mean: Option<f64>| Distance {
        mean,
        share: if mean.is_some() { 1.0 } else { 0.0 },
    };
    ContextClass {
        bytes,
        share,
        count: 12,
        reread: distance(reread),
        rewrite: distance(rewrite),
        reread_near: distance(reread),
        rewrite_near: distance(rewrite),
    }
}

pub fn run() -> Run {
    let thread = |thread, stores| ThreadTotals {
        process: 0,
        thread,
        instructions: stores * 9,
        stores,
        loads: stores * 2,
        fences: 1200,
    };
    Run {
        program: "/home/ada/kv/kv".into(),
        command: vec!["./kv".into(), "--workload".into(), "a".into()],
        cwd: Some(CWD.into()),
        engine: "DynamoRIO 11.90.1".into(),
        scope: "functions".into(),
        processes: 1,
        threads: vec![thread(0, 40_000_000), thread(1, 56_200_000)],
        ..Run::default()
    }
}

const KV: &str = "/home/ada/kv/kv";
const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";

pub fn symbols() -> FakeSymbols {
    let fortified = "/usr/include/x86_64-linux-gnu/bits/string_fortified.h";
    let main = [("main", "/home/ada/kv/src/main.c", 88)];
    FakeSymbols::default()
        // 1..: an inlined loop with two lines
        .at(
            1,
            KV,
            &[
                ("evalPacket", "/home/ada/kv/src/tensor.hpp", 31),
                ("run", "/home/ada/kv/src/tensor.hpp", 272),
            ],
        )
        .at(2, KV, &[("run", "/home/ada/kv/src/tensor.hpp", 274)])
        // 10..: memmove under put
        .at(10, LIBC, &[("__memmove_avx_unaligned_erms", "", 0)])
        .at(
            11,
            KV,
            &[
                ("memcpy", fortified, 29),
                ("put", "/home/ada/kv/src/kv.c", 3),
                ("put_all", "/home/ada/kv/src/kv.c", 12),
            ],
        )
        .at(12, KV, &[("worker", "/home/ada/kv/src/kv.c", 7)])
        .at(13, LIBC, &[("start_thread", "", 0)])
        .at(20, KV, &[("rank", "/home/ada/kv/src/rank.c", 50)])
        .at(30, "/opt/lib/libfast.so", &[])
        .at(40, KV, &main)
}

/// The kinds of finding there are, in one report.
pub fn findings() -> Findings {
    let mut tensor = finding(Verdict::Clean, &[(1, 30_000_000), (2, 9_700_000)]);
    tensor.store_share = 0.413;
    tensor.sequential_share = 0.97;
    tensor.contexts = vec![
        context(240, 0.6, Some(2.0), None),
        context(16_200_000, 0.1, None, None),
    ];
    tensor.contexts[0].reread.share = 0.9;
    tensor.contexts[0].reread_near.share = 0.8;
    tensor.reason = "sequential and re-read after 2 instructions, never rewritten".into();
    tensor.allocations = vec![(SiteId(40), tensor.store_bytes)];
    tensor.call_chain = vec![SiteId(12), SiteId(13)];

    let mut put = finding(Verdict::Skip, &[(10, 20_000_000)]);
    put.generic_writer = true;
    put.call_chain = vec![SiteId(11), SiteId(12), SiteId(13)];
    put.store_share = 0.208;
    put.contexts = vec![context(4096, 1.0, None, None)];
    put.fence_distance = FenceDistance {
        min: Some(12),
        median: Some(23_800),
    };
    put.reason = "sequential, neither re-read nor re-written".into();

    let mut stripped = finding(Verdict::Demote, &[(30, 5_000_000)]);
    stripped.store_share = 0.05;
    stripped.rewrite = Distance {
        mean: Some(512.4),
        share: 1.0,
    };
    stripped.rewrite_near = stripped.rewrite;
    stripped.sequential_share = 0.2;
    stripped.fence_distance = FenceDistance {
        min: Some(3),
        median: None,
    };
    stripped.reason = "rewritten, and a fence follows".into();

    let mut rank = finding(Verdict::LeaveAlone, &[(20, 3_000_000)]);
    rank.store_share = 0.031;
    rank.sequential_share = 0.0;
    rank.reason = "not sequential, and no fence follows".into();
    rank.dismissed = Some(Dismissed {
        verdict: Verdict::Clean,
        reason: "it would be worth it if it wrote more".into(),
    });

    let flush = Pitfall {
        kind: PitfallKind::FlushOfRewrittenLine,
        site: SiteId(20),
        call_chain: vec![SiteId(12)],
        entered: false,
        generic_writer: false,
        executed: 3_000_000,
        affected: 2_900_000,
        cost_share: 0.21,
        reason: "the lines are written again at once".into(),
    };

    Findings {
        write_intensive: true,
        instructions: 812_400_000,
        stores: 96_200_000,
        loads: 190_000_000,
        fences: 2400,
        store_fraction: 0.1184,
        time: TimeEstimate {
            total: 1.0e9,
            writing: 1.6e8,
            waited: 1_000,
            lines_written: 2_000_000,
            lines_taken: 3_000,
            lines_read: 1_500_000,
        },
        findings: vec![tensor, put, stripped, rank],
        pitfalls: vec![flush],
    }
}

pub fn report() -> Report {
    Report::new(&findings(), run(), 0.1, &mut symbols())
}
