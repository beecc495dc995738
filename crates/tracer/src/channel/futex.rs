//! A word in memory that processes share.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use rustix::thread::futex;

use super::protocol::Word;

impl Word for AtomicU32 {
    fn load(&self, order: Ordering) -> u32 {
        self.load(order)
    }

    fn store(&self, value: u32, order: Ordering) {
        self.store(value, order);
    }

    fn fence() {
        fence(Ordering::SeqCst);
    }

    fn wait(&self, seen: u32, limit: Duration) {
        let limit = futex::Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        // Woken, timed out or interrupted: the caller looks again in any case.
        let _ = futex::wait(self, futex::Flags::empty(), seen, Some(&limit));
    }

    fn wake(&self) {
        // Cannot fail on a mapped word; the other side looks again after a while in any case.
        let _ = futex::wake(self, futex::Flags::empty(), 1);
    }
}
