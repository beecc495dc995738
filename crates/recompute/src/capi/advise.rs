//! The advisor, for C.

use std::ffi::{CStr, c_char, c_int};

use super::message;
use crate::{Level, Measured};

/// `prestore_loop_level` of the header.
#[repr(C)]
pub struct CLevel {
    name: *const c_char,
    seconds: f64,
    persist_seconds: f64,
}

/// `prestore_loop_measured` of the header.
#[repr(C)]
pub struct CMeasured {
    outer: u64,
    outer_seconds: f64,
    copy_seconds: f64,
    workers: u64,
    fresh: c_int,
    mttf_seconds: f64,
    levels: *const CLevel,
    level_count: usize,
}

/// `prestore_loop_advice` of the header.
#[repr(C)]
pub struct CAdvice {
    scheme: [u8; 32],
    level: isize,
    overhead: f64,
    recovery_seconds: f64,
    expected: f64,
    crossing: f64,
}

/// # Safety
/// `measured` and what it points to is valid, the texts end in NUL; `advice` is valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_advise(
    measured: *const CMeasured,
    advice: *mut CAdvice,
) -> c_int {
    // SAFETY: passed on to C.
    let of = unsafe { &*measured };
    let numbers = [of.outer_seconds, of.copy_seconds, of.mttf_seconds];
    if of.levels.is_null()
        || of.level_count == 0
        || of.outer == 0
        || !numbers
            .iter()
            .all(|number| number.is_finite() && *number > 0.0)
    {
        message::set("the advisor needs loops to choose from, and times that are more than 0");
        return -1;
    }
    // SAFETY: passed on to C.
    let levels = unsafe { std::slice::from_raw_parts(of.levels, of.level_count) };
    let measured = Measured {
        outer: of.outer,
        outer_seconds: of.outer_seconds,
        copy_seconds: of.copy_seconds,
        workers: of.workers,
        fresh: of.fresh != 0,
        mttf_seconds: of.mttf_seconds,
        levels: levels.iter().map(level).collect(),
    };
    let Some(best) = measured.advise() else {
        message::set(
            "no scheme gets ahead of the failures: even at the innermost loop, recovering and one step take longer \
             than the mean time to failure",
        );
        return -1;
    };
    let mut scheme = [0; 32];
    let text = best.scheme.to_string();
    scheme[..text.len().min(31)].copy_from_slice(&text.as_bytes()[..text.len().min(31)]);
    let answer = CAdvice {
        scheme,
        level: best.level.map_or(-1, |level| level as isize),
        overhead: best.overhead,
        recovery_seconds: best.recovery_seconds,
        expected: best.expected,
        crossing: best.crossing.unwrap_or(0.0),
    };
    // SAFETY: passed on to C.
    unsafe { advice.write(answer) };
    0
}

fn level(of: &CLevel) -> Level {
    Level {
        name: if of.name.is_null() {
            String::new()
        } else {
            // SAFETY: passed on to C.
            unsafe { CStr::from_ptr(of.name) }
                .to_string_lossy()
                .into_owned()
        },
        seconds: of.seconds,
        persist_seconds: of.persist_seconds,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_loop_crossing(checkpoint: f64, iteration: f64, overhead: f64) -> f64 {
    crate::crossing(checkpoint, iteration, overhead)
}
