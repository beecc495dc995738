//! Which stretches of different threads are at the same time.

/// Who stored: a stretch of a thread. 0 in the place of one: nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Writer(u64);

const SERIAL_BITS: u32 = 40;

impl Writer {
    pub(super) const NOBODY: Self = Self(0);

    fn thread(self) -> Option<usize> {
        ((self.0 >> SERIAL_BITS) as usize).checked_sub(1)
    }
}

/// The stretch that each thread is in, where stretches come in the order of their beginnings.
#[derive(Clone, Debug)]
pub(super) struct Order {
    current: Vec<Writer>,
    serial: u64,
}

impl Order {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            current: vec![Writer::NOBODY; threads],
            serial: 0,
        }
    }

    /// With one thread nothing needs to be remembered.
    pub(super) fn is_trivial(&self) -> bool {
        self.current.len() < 2
    }

    pub(super) fn begin(&mut self, thread: usize) {
        self.serial = (self.serial + 1) & ((1 << SERIAL_BITS) - 1);
        self.current[thread] = Writer((thread as u64 + 1) << SERIAL_BITS | self.serial);
    }

    pub(super) fn end(&mut self, thread: usize) {
        self.current[thread] = Writer::NOBODY;
    }

    pub(super) fn writer(&self, thread: usize) -> Writer {
        self.current[thread]
    }

    /// May `earlier`, of another thread than `now`, as well have come behind it? A stretch that has ended
    /// has done so before those began that come now.
    pub(super) fn overlap(&self, earlier: Writer, now: Writer) -> bool {
        earlier != now
            && earlier
                .thread()
                .is_some_and(|t| Some(t) != now.thread() && self.current[t] == earlier)
    }
}
