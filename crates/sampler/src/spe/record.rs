use super::{Packet, Packets};

/// One sampled operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpeRecord {
    /// Address of the instruction.
    pub pc: u64,
    /// Exception level it ran at; 0 is user code.
    pub exception_level: u8,
    /// Virtual data address, if the record has one.
    pub addr: Option<u64>,
    /// The operation writes memory.
    pub store: bool,
    /// Counter value, if timestamps were on.
    pub timestamp: Option<u64>,
}

/// The records of a piece of stream, and what could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpeStream {
    /// Load, store and atomic operations with their instruction address.
    pub records: Vec<SpeRecord>,
    /// Headers no packet has.
    pub unknown: u64,
    /// Records cut off by the end of the bytes, or without an instruction address.
    pub incomplete: u64,
}

/// Decodes a piece of the AUX area whose first byte has the position `base`.
pub fn decode_spe(bytes: &[u8], base: u64) -> SpeStream {
    let mut stream = SpeStream::default();
    let mut open = Open::default();
    for packet in Packets::new(bytes, base) {
        match packet {
            Packet::ProgramCounter {
                address,
                exception_level,
            } => {
                open.pc = Some((address, exception_level));
            }
            Packet::DataAddress(address) => open.addr = Some(address),
            Packet::Memory { store, .. } => open.store = Some(store),
            Packet::OtherOperation | Packet::Skipped => open.touched = true,
            Packet::Timestamp(value) => open.close(Some(value), &mut stream),
            Packet::End => open.close(None, &mut stream),
            Packet::Unknown(_) => stream.unknown += 1,
            Packet::Cut => open.touched = true,
            Packet::Padding => {}
        }
    }
    if open != Open::default() {
        stream.incomplete += 1;
    }
    stream
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Open {
    pc: Option<(u64, u8)>,
    addr: Option<u64>,
    store: Option<bool>,
    touched: bool,
}

impl Open {
    fn close(&mut self, timestamp: Option<u64>, stream: &mut SpeStream) {
        match std::mem::take(self) {
            Self {
                pc: Some((pc, exception_level)),
                store: Some(store),
                addr,
                ..
            } => {
                stream.records.push(SpeRecord {
                    pc,
                    exception_level,
                    addr,
                    store,
                    timestamp,
                });
            }
            Self {
                pc: None,
                store: Some(_),
                ..
            } => stream.incomplete += 1,
            // Branches and other operations are not ours.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_cut_by_the_end_is_counted() {
        let stream = decode_spe(&[0x49, 0x01, 0xb0, 1, 2, 3], 0);
        assert_eq!((stream.records.len(), stream.incomplete), (0, 1));
    }

    #[test]
    fn a_store_without_instruction_address_is_counted_and_not_invented() {
        let stream = decode_spe(&[0x49, 0x01, 0x01], 0);
        assert_eq!((stream.records.len(), stream.incomplete), (0, 1));
    }

    #[test]
    fn branches_are_left_out() {
        let stream = decode_spe(&[0x4a, 0x01, 0xb0, 1, 0, 0, 0, 0, 0, 0, 0, 0x01, 0, 0], 0);
        assert_eq!(stream, SpeStream::default());
    }
}
