//! What stores have written, of recordings with values.

use std::collections::VecDeque;

use super::each_touch;
use crate::block::{Block, BlockEnd, NO_SLOT, Ref, RefMode, XsaveComponent};
use crate::content::{Content, Why};
use crate::{EventKind, SiteId};

/// A store that wrote, or a part of a large one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store<'a> {
    /// Instructions that the thread had executed before it.
    pub instr: u64,
    /// Where in the code.
    pub site: SiteId,
    /// What kind of store.
    pub kind: EventKind,
    /// First byte.
    pub addr: u64,
    /// How many.
    pub len: u64,
    /// The bytes, little-endian, the last word filled up; none: zeros. `None`: it is not known what it wrote.
    pub data: Option<&'a [u64]>,
}

/// One touch whose bytes come behind the execution.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    instr: u64,
    site: SiteId,
    kind: EventKind,
    addr: u64,
    len: u64,
}

/// Brings a thread's executions and the bytes behind them together.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    awaited: VecDeque<Awaited>,
}

impl Stores {
    /// Gives `each` what the first `executed` instructions of `block` have stored, as far as it is in
    /// the execution itself. A compare and exchange that failed has stored nothing.
    #[inline]
    pub fn exec(
        &mut self,
        xsave: &[XsaveComponent],
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
        mut each: impl FnMut(Store<'_>),
    ) {
        self.end(&mut each);
        for r in &block.refs {
            if u32::from(r.instr) >= executed {
                break;
            }
            if !r.kind.writes() {
                continue;
            }
            let instr = before.wrapping_add(u64::from(r.instr));
            let pushed = [block.next_pc];
            let data = if r.value_slot != NO_SLOT {
                let at = usize::from(r.value_slot);
                values.get(at..at + (r.size as usize).div_ceil(8))
            } else {
                is_push_of_call(block, r).then_some(&pushed[..])
            };
            if r.has_failed(values) {
                continue;
            }
            each_touch(xsave, r, values, |addr, len| match data {
                Some(_) => each(Store {
                    instr,
                    site: r.site,
                    kind: r.kind,
                    addr,
                    len,
                    data,
                }),
                None => self.awaited.push_back(Awaited {
                    instr,
                    site: r.site,
                    kind: r.kind,
                    addr,
                    len,
                }),
            });
        }
    }

    /// Gives `each` the part of the last execution's stores that `content` is.
    pub fn content(&mut self, content: &Content<'_>, mut each: impl FnMut(Store<'_>)) {
        if content.why != Why::Stored {
            return;
        }
        while let Some(next) = self.awaited.front_mut() {
            let into = content.addr.wrapping_sub(next.addr);
            if into >= next.len || content.len > next.len - into {
                // What could not be read any more when it was to be written down.
                each(next.part(next.len, None));
                self.awaited.pop_front();
                continue;
            }
            if into > 0 {
                each(next.part(into, None));
            }
            each(next.part(content.len, Some(content.data)));
            if next.len == 0 {
                self.awaited.pop_front();
            }
            return;
        }
    }

    /// Are there bytes still to come of the last execution?
    pub fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// The thread is at its end, or goes on: what is still awaited was not written down.
    pub fn end(&mut self, mut each: impl FnMut(Store<'_>)) {
        while let Some(mut lost) = self.awaited.pop_front() {
            each(lost.part(lost.len, None));
        }
    }
}

impl Awaited {
    /// Takes its first `len` bytes.
    fn part<'a>(&mut self, len: u64, data: Option<&'a [u64]>) -> Store<'a> {
        let part = Store {
            instr: self.instr,
            site: self.site,
            kind: self.kind,
            addr: self.addr,
            len,
            data,
        };
        self.addr = self.addr.wrapping_add(len);
        self.len -= len;
        part
    }
}

/// A call's return address.
fn is_push_of_call(block: &Block, r: &Ref) -> bool {
    block.end == BlockEnd::Call
        && u32::from(r.instr) + 1 == block.instrs
        && r.kind == EventKind::Store
        && r.mode == RefMode::Plain
        && r.size == 8
}
