//! Which parts of its area an instruction of the `xsave` family touches.

use crate::block::{XsaveComponent, XsaveForm};

/// Where the parts of the area end: x87's state (on both sides of `MXCSR`), SSE's registers, and the header, which begins behind a
/// gap.
const X87_BEGIN: u64 = 24;
const MXCSR_END: u64 = 32;
const X87_END: u64 = 160;
const SSE_END: u64 = 416;
const HEADER: u64 = 512;
const HEADER_END: u64 = 576;
/// Bits of components; x87's is the lowest.
const SSE: u64 = 1 << 1;
const AVX: u64 = 1 << 2;
/// `XCOMP_BV`: the area has the compacted form.
const IS_COMPACTED: u64 = 1 << 63;

/// Calls `part(begin, end)` for each stretch of the area. The recorder's client has the same rules (`touches.c`).
pub(super) fn parts(
    components: &[XsaveComponent],
    form: XsaveForm,
    asked: u64,
    header: Option<[u64; 2]>,
    mut part: impl FnMut(u64, u64),
) {
    let [in_use, layout] = header.unwrap_or([u64::MAX, 0]);
    let touched = asked & in_use;
    let restored = form == XsaveForm::Restored;
    let compacted = form == XsaveForm::Compacted || (restored && layout & IS_COMPACTED != 0);
    let present = if restored { layout } else { asked };
    let mxcsr = if compacted {
        touched & SSE != 0
    } else {
        asked & (SSE | AVX) != 0
    };
    let (x87, sse) = (touched & 1 != 0, touched & SSE != 0);
    let header_end = match (restored, compacted) {
        (true, _) => HEADER_END,
        (false, true) => HEADER + 16,
        (false, false) => HEADER + 8,
    };
    // Stretches without a gap are one.
    let mut open: Option<(u64, u64)> = None;
    let mut add = |from: u64, to: u64| {
        open = match open {
            Some((begin, end)) if end == from => Some((begin, to)),
            before => {
                if let Some((begin, end)) = before {
                    part(begin, end);
                }
                Some((from, to))
            }
        };
    };
    for (there, from, to) in [
        (x87, 0, X87_BEGIN),
        (mxcsr, X87_BEGIN, MXCSR_END),
        (x87, MXCSR_END, X87_END),
        (sse, X87_END, SSE_END),
        (true, HEADER, header_end),
    ] {
        if there {
            add(from, to);
        }
    }
    let mut at = HEADER_END;
    for (i, c) in components.iter().enumerate().take(63).skip(2) {
        let bit = 1 << i;
        if c.size == 0 || (compacted && present & bit == 0) {
            continue;
        }
        if !compacted {
            at = u64::from(c.offset);
        } else if c.aligned {
            at = at.next_multiple_of(64);
        }
        if touched & bit != 0 {
            add(at, at + u64::from(c.size));
        }
        at += u64::from(c.size);
    }
    if let Some((begin, end)) = open {
        part(begin, end);
    }
}
