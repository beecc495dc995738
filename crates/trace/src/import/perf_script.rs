//! The text that `perf script` prints.
//!
//! Expected: `perf mem record -t store -- CMD` (or `perf record -e …` of any event), then
//! `perf script -F comm,pid,tid,time,period,event,addr,data_src,weight,ip,sym,symoff,dso`; what
//! `perf script` prints unasked is understood too. Needed are time, event and ip; a field that is
//! missing is unknown in the sample. perf prints fields in an order of its own:
//!
//! `comm pid[/tid] [cpu] time: period event: addr data_src weight` and then, on the same line or,
//! with call chains, innermost first on lines of their own up to an empty one,
//! `ip symbol+0xoffset (module)`.

use std::io::{BufRead, Read};

use thiserror::Error;

use super::{Frame, Sample, Samples};

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Its number, from 1.
    pub line: u64,
    /// Why.
    pub why: &'static str,
}

impl std::fmt::Display for SkippedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// Why nothing was imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The input cannot be read.
    #[error("cannot read line {line} of the perf script text: {source}")]
    Io {
        /// Its number, from 1.
        line: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// No text has such a line.
    #[error(
        "line {line} has more than {LONGEST_LINE} bytes; this should be the text that `perf script -F comm,pid,tid,time,period,event,addr,data_src,weight,ip,sym,symoff,dso` prints"
    )]
    LongLine {
        /// Its number, from 1.
        line: u64,
    },
    /// Not one line was understood as a sample.
    #[error("no samples found{}; this should be the text that `perf script -F comm,pid,tid,time,period,event,addr,data_src,weight,ip,sym,symoff,dso` prints", first.as_ref().map_or(String::new(), |s| format!(" ({s})")))]
    NoSamples {
        /// The first line that was not understood, if there was any.
        first: Option<SkippedLine>,
    },
}

/// Bytes of the longest line that is read. A line ends with one function's name and one path; names of C++ templates have tens of
/// thousands of bytes. What has no ends of lines (a device, memory) would be read until nothing is left to keep it in.
const LONGEST_LINE: u64 = 1 << 20;
/// So many skipped lines are kept one by one.
const KEEP_SKIPPED: usize = 20;

/// Reads what `perf script` printed. Lines that are not understood are counted and passed over.
///
/// # Errors
/// [`ImportError`]: the input cannot be read, is no text, or holds no sample at all.
pub fn parse_perf_script(mut input: impl BufRead) -> Result<Samples, ImportError> {
    let mut out = Samples::default();
    let mut open: Option<Sample> = None;
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let mut part = input.by_ref().take(LONGEST_LINE + 1);
        let read = part.read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| ImportError::Io { line, source })?;
        if part.limit() == 0 && !bytes.ends_with(b"\n") {
            return Err(ImportError::LongLine { line });
        }
        // Names of threads and files may be any bytes. The end closes a sample like an empty line.
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        let understood = take_line(text, &mut open, &mut out.samples);
        if let Err(why) = understood {
            out.skipped_lines += 1;
            if out.skipped.len() < KEEP_SKIPPED {
                out.skipped.push(SkippedLine { line, why });
            }
        }
        if read == 0 {
            break;
        }
    }
    if out.samples.is_empty() {
        let first = out.skipped.into_iter().next();
        return Err(ImportError::NoSamples { first });
    }
    Ok(out)
}

fn take_line(
    text: &str,
    open: &mut Option<Sample>,
    done: &mut Vec<Sample>,
) -> Result<(), &'static str> {
    if text.trim_start().starts_with('#') {
        return Ok(());
    }
    if text.is_empty() {
        let had_code = open
            .take()
            .is_none_or(|s| finished(s).map(|s| done.push(s)).is_some());
        return if had_code { Ok(()) } else { Err(NO_CODE) };
    }
    if let Some(sample) = header(text) {
        if let Some(before) = open.replace(sample) {
            done.push(finished(before).ok_or(NO_CODE)?);
        }
        return Ok(());
    }
    let Some(sample) = open else {
        return Err("neither a sample (comm pid time: event: …) nor a frame of one");
    };
    let frame = frame(text.trim_start()).ok_or("a frame without an instruction pointer")?;
    if sample.at == Frame::default() {
        sample.at = frame;
    } else {
        sample.callers.push(frame);
    }
    Ok(())
}

const NO_CODE: &str = "the sample before has no instruction pointer (field ip)";

fn finished(sample: Sample) -> Option<Sample> {
    (sample.at != Frame::default()).then_some(sample)
}

/// `comm pid[/tid] [cpu] time: [period] event: [addr] [data_src] [weight] [ip sym (dso)]`
fn header(text: &str) -> Option<Sample> {
    let tokens = words(text);
    let time_at = tokens.iter().position(|(_, t)| time_ns(t).is_some())?;
    let mut before = tokens[..time_at].iter().map(|t| t.1).peekable();
    let mut names: Vec<&str> = before.by_ref().collect();
    if names
        .last()
        .is_some_and(|t| t.starts_with('[') && t.ends_with(']'))
    {
        names.pop();
    }
    let (pid, tid) = ids(names.pop()?)?;
    let rest = &tokens[time_at + 1..];
    let period = rest.first().and_then(|t| t.1.parse().ok());
    let (event_from, event) = *rest.get(usize::from(period.is_some()))?;
    let name = event.strip_suffix(':')?;
    let mut sample = Sample {
        comm: names.join(" "),
        pid,
        tid,
        time_ns: time_ns(tokens[time_at].1),
        event: name.to_owned(),
        period: period.unwrap_or(1),
        is_store: by_event(name),
        ..Sample::default()
    };
    behind_event(&text[event_from + event.len()..], &mut sample);
    Some(sample)
}

/// The fields of the access and, without call chains, the code.
fn behind_event(text: &str, sample: &mut Sample) {
    let (numbers, code) = match text.split_once('|') {
        Some((numbers, source)) => {
            sample.is_store = by_operation(source).or(sample.is_store);
            let last = source.rsplit_once('|').map_or(source, |s| s.1);
            let mut tail = words(last).into_iter().skip(1);
            let number = tail.find(|(_, t)| hex(t).is_some());
            (numbers, number.map_or("", |(from, _)| &last[from..]))
        }
        None => ("", text),
    };
    let mut numbers = words(numbers).into_iter();
    if let (Some((_, addr)), Some(_data_source)) = (numbers.next(), numbers.next()) {
        sample.addr = hex(addr);
    }
    let had_source = text.contains('|');
    let tokens = words(code);
    let numeric = tokens.iter().take_while(|(_, t)| hex(t).is_some()).count();
    // A function may be named like a number (`add`): the last word before a module is a name.
    let has_module = code.trim_end().ends_with(')');
    let named = usize::from(has_module && numeric + 1 == tokens.len() && numeric > 1);
    let numeric = numeric - named;
    let (fields, ip) = if has_module && numeric > 0 {
        (numeric - 1, Some(numeric - 1))
    } else {
        (numeric, None)
    };
    for (i, (_, token)) in tokens[..fields].iter().enumerate() {
        match (had_source, i) {
            (false, 0) => sample.addr = hex(token),
            (true, 0) | (false, 1) => sample.weight = token.parse().ok(),
            _ => {}
        }
    }
    if let Some(ip) = ip {
        sample.at = frame(&code[tokens[ip].0..]).unwrap_or_default();
    }
}

/// `ip [symbol[+0xoffset]] [(module)]`
fn frame(text: &str) -> Option<Frame> {
    let (ip, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let ip = hex(ip)?;
    let rest = rest.trim();
    // Function names have parentheses too; the module is the last pair, behind a space.
    let (symbol, module) = match last_pair(rest) {
        Some(at) if at == 0 || rest[..at].ends_with(' ') => {
            (rest[..at].trim_end(), Some(&rest[at + 1..rest.len() - 1]))
        }
        _ => (rest, None),
    };
    let with_offset = symbol.rsplit_once("+0x");
    let (symbol, offset) = match with_offset.and_then(|(s, o)| Some((s, hex(o)?))) {
        Some((symbol, offset)) => (symbol, Some(offset)),
        None => (symbol, None),
    };
    let known = |s: &str| (!s.is_empty() && s != "[unknown]").then(|| s.to_owned());
    Some(Frame {
        ip,
        symbol: known(symbol),
        offset,
        module: module.and_then(known),
    })
}

/// Where the pair of parentheses opens that `text` ends with. There may be others in it: a file that is gone is
/// `(/tmp/a (deleted))`.
fn last_pair(text: &str) -> Option<usize> {
    if !text.ends_with(')') {
        return None;
    }
    let mut open = 0;
    let balanced = text.char_indices().rev().find(|(_, c)| {
        match c {
            ')' => open += 1,
            '(' => open -= 1,
            _ => {}
        }
        open == 0
    });
    // Of those that do not match, the last one.
    balanced.map(|b| b.0).or_else(|| text.rfind('('))
}

/// Words and where they start.
fn words(text: &str) -> Vec<(usize, &str)> {
    let split = text.split_whitespace();
    split
        .map(|w| (w.as_ptr() as usize - text.as_ptr() as usize, w))
        .collect()
}

fn hex(token: &str) -> Option<u64> {
    u64::from_str_radix(token.strip_prefix("0x").unwrap_or(token), 16).ok()
}

/// `seconds.fraction:` in nanoseconds.
fn time_ns(token: &str) -> Option<u64> {
    let (seconds, fraction) = token.strip_suffix(':')?.split_once('.')?;
    let digits = fraction.len();
    if digits == 0 || digits > 9 {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = fraction.parse().ok()?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(fraction * 10u64.pow(9 - digits as u32))
}

/// `pid/tid`, or one of them.
fn ids(token: &str) -> Option<(u32, u32)> {
    match token.split_once('/') {
        Some((pid, tid)) => Some((pid.parse().ok()?, tid.parse().ok()?)),
        None => token.parse().ok().map(|id| (id, id)),
    }
}

fn by_event(name: &str) -> Option<bool> {
    let name = name.to_ascii_lowercase();
    match (name.contains("store"), name.contains("load")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// What the data source says the operation was: `OP STORE|LVL …`.
fn by_operation(source: &str) -> Option<bool> {
    let operation = source.split('|').find_map(|s| s.strip_prefix("OP "))?;
    by_event(operation)
}
