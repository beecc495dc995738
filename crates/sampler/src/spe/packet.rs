/// One packet of the stream, reduced to what stores need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// Filler.
    Padding,
    /// End of a record that has no timestamp.
    End,
    /// Counter value at the sample; ends a record.
    Timestamp(u64),
    /// Address of the sampled instruction and the exception level it ran at.
    ProgramCounter {
        /// Virtual address.
        address: u64,
        /// 0 = user code.
        exception_level: u8,
    },
    /// Virtual data address, without its tag byte.
    DataAddress(u64),
    /// A load, store or atomic; `store` is the operation's store bit, `atomic` its kind.
    Memory {
        /// The operation writes.
        store: bool,
        /// An atomic or exclusive operation.
        atomic: bool,
    },
    /// A branch or another operation that is no load or store.
    OtherOperation,
    /// A packet with no meaning here: counters, events, context, data source, other addresses.
    Skipped,
    /// A header no packet has.
    Unknown(u8),
    /// The bytes end within a packet.
    Cut,
}

/// Walks over packets. After an unknown header it goes on at the next byte, as nothing in the
/// stream says how long an unknown packet is.
#[derive(Debug, Clone)]
pub struct Packets<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position of the first byte in the AUX area: alignment packets count from there.
    base: u64,
}

impl<'a> Packets<'a> {
    /// Packets of `bytes`, the first of which is at position `base` of the AUX area.
    pub fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, at: 0, base }
    }

    fn payload(&mut self, header_bytes: usize, size_header: u8) -> Option<u64> {
        let length = 1usize << ((size_header >> 4) & 3);
        let start = self.at + header_bytes;
        let bytes = self.bytes.get(start..start + length)?;
        self.at = start + length;
        let mut word = [0u8; 8];
        word[..length].copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }

    /// Skips to the next multiple of the alignment that an alignment packet asks for.
    fn align(&mut self, header: u8) -> Packet {
        let alignment = 1u64 << ((header & 0xf) + 1);
        let position = self.base + self.at as u64;
        let step = alignment - position % alignment;
        self.at = self.bytes.len().min(self.at + step as usize);
        Packet::Padding
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let &first = self.bytes.get(self.at)?;
        // Extended headers (0b0010_00xx) carry the upper index bits and the real header behind.
        let extended = first & 0xfc == 0x20;
        let (header, header_bytes, upper_index) = if extended {
            match self.bytes.get(self.at + 1) {
                Some(0) => return Some(self.align(first)),
                Some(&second) => (second, 2, (first & 3) << 3),
                None => {
                    self.at = self.bytes.len();
                    return Some(Packet::Cut);
                }
            }
        } else {
            (first, 1, 0)
        };
        match (extended, header) {
            (false, 0x00) => {
                self.at += 1;
                return Some(Packet::Padding);
            }
            (false, 0x01) => {
                self.at += 1;
                return Some(Packet::End);
            }
            _ => {}
        }
        let index = upper_index | (header & 7);
        let meaning: fn(u8, u64) -> Packet = match header {
            0x71 if !extended => |_, value| Packet::Timestamp(value),
            _ if header & 0xf8 == 0xb0 => address,
            _ if header & 0xf8 == 0x98 => |_, _| Packet::Skipped,
            _ if !extended && header & 0xfc == 0x48 => operation,
            _ if !extended && (header & 0xcf == 0x42 || header & 0xcf == 0x43) => {
                |_, _| Packet::Skipped
            }
            _ if !extended && header & 0xfc == 0x64 => |_, _| Packet::Skipped,
            _ => {
                self.at += 1;
                return Some(Packet::Unknown(first));
            }
        };
        match self.payload(header_bytes, header) {
            Some(value) => Some(meaning(index, value)),
            None => {
                self.at = self.bytes.len();
                Some(Packet::Cut)
            }
        }
    }
}

fn address(index: u8, value: u64) -> Packet {
    let low = value & ((1 << 56) - 1);
    match index {
        0 => Packet::ProgramCounter {
            address: low,
            exception_level: ((value >> 61) & 3) as u8,
        },
        2 => Packet::DataAddress(low),
        _ => Packet::Skipped,
    }
}

fn operation(index: u8, value: u64) -> Packet {
    match index & 3 {
        1 => Packet::Memory {
            store: value & 1 != 0,
            // The extended load/store subclass: bits 7..5 zero, bit 1 set.
            atomic: value & 0b1110_0010 == 0b0000_0010,
        },
        _ => Packet::OtherOperation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Packet> {
        Packets::new(bytes, 0).collect()
    }

    #[test]
    fn packets_have_the_length_their_header_states() {
        let bytes = [
            &[0x49, 0x01][..],   // operation: store, one byte
            &[0x52, 0x12, 0x00], // events, two bytes
            &[0x98, 0x05, 0x00], // counter, two bytes
            &[0x65, 1, 0, 0, 0], // context, four bytes
            &[0x43, 0x08],       // data source, one byte
            &[0x71, 8, 7, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(
            all(&bytes),
            [
                Packet::Memory {
                    store: true,
                    atomic: false
                },
                Packet::Skipped,
                Packet::Skipped,
                Packet::Skipped,
                Packet::Skipped,
                Packet::Timestamp(0x0708),
            ]
        );
    }

    #[test]
    fn addresses_lose_tag_and_security_bits() {
        let pc = [0xb0, 0x10, 0, 0, 0, 0, 0xaa, 0, 0xa0]; // NS, EL1
        let data = [0xb2, 0x40, 0, 0, 0, 0, 0, 0, 0x5a]; // tag 0x5a
        assert_eq!(
            all(&[pc, data].concat()),
            [
                Packet::ProgramCounter {
                    address: 0xaa00_0000_0010,
                    exception_level: 1
                },
                Packet::DataAddress(0x40),
            ]
        );
    }

    #[test]
    fn extended_headers_reach_higher_indices_and_align() {
        // Extended address with index 8 is unknown here but has a known length.
        let long = [0x21, 0xb0, 1, 2, 3, 4, 5, 6, 7, 8, 0x01];
        assert_eq!(all(&long), [Packet::Skipped, Packet::End]);
        // Alignment to 4 bytes from position 2 skips to position 4.
        let mut packets = Packets::new(&[0x21, 0x00, 0x01], 2);
        assert_eq!(packets.next(), Some(Packet::Padding));
        assert_eq!(packets.next(), Some(Packet::End));
    }

    #[test]
    fn unknown_headers_are_named_and_cut_packets_seen() {
        assert_eq!(all(&[0xff, 0x01]), [Packet::Unknown(0xff), Packet::End]);
        assert_eq!(all(&[0xb0, 1, 2]), [Packet::Cut]);
        assert_eq!(all(&[0x20]), [Packet::Cut]);
    }
}
