//! Streams of constant stride, a page each.

use super::{PAGE, Prefetcher, Request, Wanted};
use crate::divide::Divisor;

/// Follows the pages that a core used last. A stride that was seen twice is fetched ahead of.
#[derive(Clone, Debug)]
pub(super) struct Strides {
    /// Lines of a page.
    page: Divisor,
    limit: usize,
    /// Lines that a stream runs ahead.
    degree: i64,
    /// Lines fetched each time a stream is confirmed.
    step: u32,
    /// A core each, the most recently used stream first.
    streams: Vec<Vec<Stream>>,
}

/// What is known of one page.
#[derive(Clone, Copy, Debug)]
struct Stream {
    page: u64,
    last: u64,
    stride: i64,
    /// The line up to which it was fetched, or found to be there, with this stride.
    reached: u64,
}

impl Strides {
    /// Of `cores` cores, each of `limit` pages of lines of `line` bytes, `degree` lines ahead in steps of `step`.
    pub fn new(cores: usize, line: u64, limit: u32, (degree, step): (u32, u32)) -> Self {
        Self {
            page: Divisor::new(PAGE / line),
            limit: limit as usize,
            degree: i64::from(degree),
            step,
            streams: vec![Vec::new(); cores],
        }
    }

    /// A request for `line`; answers the stride that it confirmed, and how far its stream reaches.
    fn confirmed(&mut self, core: u32, line: u64) -> Option<(i64, u64)> {
        let page = self.page.quotient(line);
        let streams = &mut self.streams[core as usize];
        let Some(at) = streams.iter().position(|s| s.page == page) else {
            streams.truncate(self.limit - 1);
            let last = line;
            streams.insert(
                0,
                Stream {
                    page,
                    last,
                    stride: 0,
                    reached: line,
                },
            );
            return None;
        };
        streams[..=at].rotate_right(1);
        let stream = &mut streams[0];
        let stride = line.wrapping_sub(stream.last) as i64;
        if stride == 0 {
            return None;
        }
        let confirmed = stride == stream.stride;
        stream.last = line;
        stream.stride = stride;
        let passed = (line.wrapping_sub(stream.reached) as i64).signum() == stride.signum();
        if !confirmed || passed {
            stream.reached = line;
        }
        confirmed.then_some((stride, stream.reached))
    }
}

impl Prefetcher for Strides {
    #[inline]
    fn requested(&mut self, request: &Request) -> Option<Wanted> {
        if !request.missed && !request.useful {
            return None;
        }
        let (stride, behind) = self.confirmed(request.core, request.line)?;
        let ahead = stride.wrapping_mul(self.degree);
        Some(Wanted {
            behind,
            stride,
            last: request.line.wrapping_add_signed(ahead),
            most: self.step,
        })
    }

    fn fetched(&mut self, core: u32, reached: u64) {
        if let Some(stream) = self.streams[core as usize].first_mut() {
            stream.reached = reached;
        }
    }
}
