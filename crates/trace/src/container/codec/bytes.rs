//! A stream of bytes that is written in small pieces.

/// Bytes that grow at their end. Writing a piece asks once whether there is room, and not for each byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes {
    /// What is written, and room.
    buffer: Vec<u8>,
    /// Bytes written.
    len: usize,
}

impl Bytes {
    /// What was written.
    pub(super) fn written(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends the low `n` (at most 8) bytes of `value`, low first.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, n: usize) {
        if self.len + 8 > self.buffer.len() {
            self.grow();
        }
        self.buffer[self.len..self.len + 8].copy_from_slice(&value.to_le_bytes());
        self.len += n;
    }

    /// Appends a byte.
    #[inline(always)]
    pub(super) fn push(&mut self, byte: u8) {
        if self.len == self.buffer.len() {
            self.grow();
        }
        self.buffer[self.len] = byte;
        self.len += 1;
    }

    /// Appends a number as LEB128: seven bits a byte, low first.
    #[inline]
    pub(super) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    /// Room for any piece.
    #[cold]
    fn grow(&mut self) {
        self.buffer.resize((2 * self.buffer.len()).max(4096), 0);
    }
}
