#![allow(warnings)]
use prestore_trace::block::*;
use prestore_trace::replay::*;
use prestore_trace::*;
use prestore_tracer::*;
#[derive(Default)]
struct P {
    words: u64,
    bufs: u64,
    instrs: std::collections::HashMap<u32, Replayer>,
    loads: u64,
    stores: u64,
    execs: u64,
    allocs: u64,
    decode: bool,
    dump: bool,
    frames: u64,
}
struct D<'a>(
    &'a mut u64,
    &'a mut u64,
    &'a mut u64,
    &'a mut u64,
    bool,
    &'a BlockTable,
    u32,
    &'a SiteTable,
);
impl ExecSink for D<'_> {
    fn exec(&mut self, b: u64, bl: &Block, v: &[u64], e: u32) {
        *self.2 += 1;
        for_each_event(
            EventContext {
                thread: ThreadId(self.6),
                xsave: self.5.xsave(),
            },
            b,
            bl,
            v,
            e,
            &mut |ev: &Event<'_>| {
                if self.4 {
                    let s = self.7.get(ev.site);
                    println!(
                        "{} {} {:?} {:#x} {} {:x?} {:x?}",
                        ev.thread.0,
                        ev.instr,
                        ev.kind,
                        ev.addr,
                        ev.size,
                        ev.value,
                        s.map(|s| s.offset)
                    );
                }
                if ev.kind.reads() {
                    *self.0 += 1
                }
                if ev.kind.writes() {
                    *self.1 += 1
                }
            },
        );
    }
    fn special(&mut self, _: u64, s: prestore_trace::record::Special) {
        if self.4 {
            println!("{s:x?}")
        }
        if matches!(s, prestore_trace::record::Special::Alloc { .. }) {
            *self.3 += 1
        }
    }
}
impl Sink for P {
    fn process(&mut self, i: ProcessInfo) -> Result<(), SinkError> {
        eprintln!("process {i:?}");
        Ok(())
    }
    fn meta(&mut self, _: ProcessId, f: &[u8], _t: &BlockTable) -> Result<(), SinkError> {
        self.frames += f.len() as u64;
        Ok(())
    }
    fn thread(&mut self, s: Stream) -> Result<(), SinkError> {
        eprintln!("{s:?}");
        Ok(())
    }
    fn words(
        &mut self,
        s: Stream,
        w: &[u64],
        t: &BlockTable,
        sites: &SiteTable,
    ) -> Result<(), SinkError> {
        self.words += w.len() as u64;
        self.bufs += 1;
        if self.decode {
            let r = self.instrs.entry(s.thread.0).or_default();
            let n = r
                .replay(
                    w,
                    t,
                    &mut D(
                        &mut self.loads,
                        &mut self.stores,
                        &mut self.execs,
                        &mut self.allocs,
                        self.dump,
                        t,
                        s.thread.0,
                        sites,
                    ),
                )
                .unwrap();
            if n != w.len() {
                eprintln!("short {n} of {}", w.len());
            }
        }
        Ok(())
    }
    fn counts(
        &mut self,
        s: Stream,
        c: &Counts,
        t: &BlockTable,
        _: &SiteTable,
    ) -> Result<(), SinkError> {
        let (mut i, mut st) = (0, 0);
        for (b, n) in &c.blocks {
            let b = t.get(*b).unwrap();
            i += n * b.instrs as u64;
            st += n * b.refs.iter().filter(|r| r.kind.writes()).count() as u64;
        }
        eprintln!(
            "thread {} instrs {i} stores {st} lost {}",
            s.thread.0, c.lost
        );
        Ok(())
    }
    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
fn main() {
    let mut a: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let mode = a.remove(0);
    let m = mode.to_string_lossy().to_string();
    let mut p = P {
        decode: m.contains("decode") || m.contains("dump"),
        dump: m.contains("dump"),
        ..Default::default()
    };
    let o = Options {
        scope: if m.contains("count") {
            Scope::Count
        } else {
            Scope::All
        },
        values: m.contains("values"),
        ..Default::default()
    };
    let r = record(&a, &o, &Interrupts::default(), &mut p);
    match r {
        Ok(r) => eprintln!("{r:?}"),
        Err(e) => eprintln!("ERR {e}"),
    }
    let i: u64 = p.instrs.values().map(|r| r.instrs()).sum();
    eprintln!(
        "words {} bufs {} loads {} stores {} execs {} instrs {i} meta {}",
        p.words, p.bufs, p.loads, p.stores, p.execs, p.frames
    );
}
