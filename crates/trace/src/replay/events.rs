//! The events of one block execution.

use super::xsave;
use crate::block::{Block, Direction, MaskForm, NO_SLOT, Ref, RefMode, XsaveComponent};
use crate::{Event, EventKind, ThreadId};

/// Receives events.
pub trait EventSink {
    /// One event.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> EventSink for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}

/// What is needed beside the block and its values.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Whose execution.
    pub thread: ThreadId,
    /// Layout of the process's `xsave` area.
    pub xsave: &'a [XsaveComponent],
}

/// Delivers the events of the first `executed` instructions of `block`, which began when the
/// thread had executed `before` instructions.
#[inline]
pub fn for_each_event<S: EventSink>(
    context: Context<'_>,
    before: u64,
    block: &Block,
    values: &[u64],
    executed: u32,
    sink: &mut S,
) {
    for r in &block.refs {
        if u32::from(r.instr) >= executed {
            break;
        }
        each_touch(context.xsave, r, values, |addr, size| {
            sink.event(&Event {
                thread: context.thread,
                instr: before.wrapping_add(u64::from(r.instr)),
                site: r.site,
                kind: r.kind,
                addr,
                size,
                value: stored_value(r, values),
            });
        });
    }
}

fn stored_value<'a>(r: &Ref, values: &'a [u64]) -> Option<&'a [u64]> {
    if r.value_slot == NO_SLOT {
        return None;
    }
    let at = usize::from(r.value_slot);
    values.get(at..at + (r.size as usize).div_ceil(8))
}

/// Calls `touch(address, bytes)` for each stretch of memory that `r` touched: once for plain
/// references, once a run of set lanes for masked ones, once a set lane for scattered ones.
#[inline]
pub fn each_touch(
    xsave: &[XsaveComponent],
    r: &Ref,
    values: &[u64],
    mut touch: impl FnMut(u64, u64),
) {
    let base = r.base(values);
    let size = u64::from(r.size);
    match r.mode {
        RefMode::Plain => touch(base, size),
        _ => special_touch(xsave, r, values, base, size, &mut touch),
    }
}

/// The direction flag among the processor's flags.
const DIRECTION_FLAG: u64 = 1 << 10;

fn goes_down(values: &[u64], direction: Direction) -> bool {
    match direction {
        Direction::Up => false,
        Direction::Down => true,
        Direction::ByFlags(at) => word(values, at) & DIRECTION_FLAG != 0,
    }
}

#[cold]
#[inline(never)]
fn special_touch(
    xsave: &[XsaveComponent],
    r: &Ref,
    values: &[u64],
    base: u64,
    size: u64,
    touch: &mut dyn FnMut(u64, u64),
) {
    let mut run = |count: u64, direction: Direction| {
        if count > 0 {
            let bytes = size.wrapping_mul(count);
            let first = if goes_down(values, direction) {
                base.wrapping_sub(bytes.wrapping_sub(size))
            } else {
                base
            };
            touch(first, bytes);
        }
    };
    match r.mode {
        RefMode::Plain => touch(base, size),
        RefMode::Rep { count, direction } => run(word(values, count), direction),
        RefMode::RepUntil {
            count,
            left,
            direction,
        } => run(
            word(values, count).wrapping_sub(word(values, left)),
            direction,
        ),
        RefMode::Masked { mask, form, lanes } => {
            stretches(lanes_set(values, mask, form, lanes), |first, len| {
                touch(
                    base.wrapping_add(size * u64::from(first)),
                    size * u64::from(len),
                );
            });
        }
        RefMode::Indexed {
            mask,
            form,
            lanes,
            index,
            index_size,
            scale,
        } => {
            let mut left = lanes_set(values, mask, form, lanes);
            while left != 0 {
                let i = signed_element(values, index, index_size, left.trailing_zeros());
                let offset = i.wrapping_mul(i64::from(scale)) as u64;
                touch(base.wrapping_add(offset), size);
                left &= left - 1;
            }
        }
        RefMode::Packed { mask, lanes } => {
            let n = lanes_set(values, mask, MaskForm::Bits, lanes).count_ones();
            let n = u64::from(n);
            if n > 0 {
                touch(base, size * n);
            }
        }
        RefMode::Xsave {
            features,
            header,
            form,
        } => {
            let header =
                (header != NO_SLOT).then(|| [word(values, header), word(values, header + 1)]);
            xsave::parts(xsave, form, word(values, features), header, |from, to| {
                touch(base.wrapping_add(from), to - from);
            });
        }
        RefMode::Bit { number } => {
            let bits = (size * 8).clamp(8, 64);
            let number = (word(values, number) << (64 - bits)) as i64 >> (64 - bits);
            let away = number.div_euclid(bits as i64).wrapping_mul(size as i64);
            touch(base.wrapping_add(away as u64), size);
        }
        RefMode::Tile {
            config,
            tile,
            stride,
            scale,
        } => {
            let stride = match stride {
                NO_SLOT => 0,
                slot => word(values, slot).wrapping_mul(u64::from(scale)),
            };
            let byte = |at: u16| word(values, config + at / 8) >> (at % 8 * 8) & 0xff;
            tile_rows(byte, u16::from(tile), base, stride, touch);
        }
    }
}

/// Tells of the lanes that are set as many as lie side by side: the first, and how many.
///
/// From one to the next, not lane by lane: that took more of the recorder's time than all else that it
/// did with a masked store.
fn stretches(mut set: u64, mut stretch: impl FnMut(u32, u32)) {
    while set != 0 {
        let first = set.trailing_zeros();
        let len = (set >> first).trailing_ones();
        stretch(first, len);
        // What was told of and all below it goes; shifted by its whole width, nothing is left.
        set &= u64::MAX.checked_shl(first + len).unwrap_or(0);
    }
}

/// A tile's rows from `base` on, `stride` bytes apart. `byte`: of the tiles' configuration.
fn tile_rows(
    byte: impl Fn(u16) -> u64,
    tile: u16,
    base: u64,
    stride: u64,
    touch: &mut dyn FnMut(u64, u64),
) {
    let bytes = byte(TILE_ROW_BYTES + 2 * tile) | byte(TILE_ROW_BYTES + 2 * tile + 1) << 8;
    let first = byte(TILE_START_ROW);
    let rows = byte(TILE_ROWS + tile).min(TILE_MAX_ROWS);
    if bytes == 0 || first >= rows {
        return;
    }
    if stride == bytes {
        // Without gaps: one stretch.
        return touch(base.wrapping_add(first * stride), (rows - first) * bytes);
    }
    for row in first..rows {
        touch(base.wrapping_add(row.wrapping_mul(stride)), bytes);
    }
}

/// Places in the configuration of tiles: where a load or store goes on that was interrupted, bytes a
/// row (two each), rows.
const TILE_START_ROW: u16 = 1;
const TILE_ROW_BYTES: u16 = 16;
const TILE_ROWS: u16 = 48;
const TILE_MAX_ROWS: u64 = 16;

fn word(values: &[u64], at: u16) -> u64 {
    values.get(usize::from(at)).copied().unwrap_or(0)
}

/// A bit for each of the `lanes` lanes that is set.
fn lanes_set(values: &[u64], mask: u16, form: MaskForm, lanes: u8) -> u64 {
    match form {
        MaskForm::Bits => {
            let all = 1u64.checked_shl(lanes.into()).unwrap_or(0);
            word(values, mask) & all.wrapping_sub(1)
        }
        MaskForm::TopBits(bytes) => (0..lanes.min(64)).fold(0, |set, lane| {
            let top = (u32::from(lane) + 1) * u32::from(bytes) * 8 - 1;
            let bit = word(values, mask + (top / 64) as u16) >> (top % 64) & 1;
            set | bit << lane
        }),
    }
}

fn signed_element(values: &[u64], first: u16, bytes: u8, lane: u32) -> i64 {
    let bit = lane * u32::from(bytes) * 8;
    let w = word(values, first + (bit / 64) as u16) >> (bit % 64);
    if bytes == 4 {
        i64::from(w as u32 as i32)
    } else {
        w as i64
    }
}

impl Ref {
    /// Its address; for the modes with elements, where those are counted from. From the values of one execution of its block.
    #[inline(always)]
    pub fn base(&self, values: &[u64]) -> u64 {
        if self.slot == NO_SLOT {
            self.disp
        } else {
            word(values, self.slot).wrapping_add(self.disp)
        }
    }

    /// Is it a plain reference of fixed size (the common case)?
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(self.mode, RefMode::Plain)
    }

    /// Does it have no address (fences) or a number for an address (region marks)?
    pub fn is_addressless(&self) -> bool {
        matches!(
            self.kind,
            EventKind::Fence(_) | EventKind::RegionBegin | EventKind::RegionEnd
        )
    }
}
