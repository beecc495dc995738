use super::AccessKind;

/// What the raw registers of an AMD IBS op sample say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IbsOp {
    /// Load, store or neither. A read-modify-write counts as a store.
    pub kind: AccessKind,
    /// Linear data address, if valid.
    pub addr: Option<u64>,
}

/// Decodes the `PERF_SAMPLE_RAW` payload of the `ibs_op` unit.
///
/// Layout: u32 capabilities, then u64 registers from IBS_OP_CTL on. Register 4 is IBS_OP_DATA3
/// (bit 0 load, bit 1 store, bit 17 linear address valid), register 5 IBS_DC_LINADDR (AMD64
/// Architecture Programmer's Manual, volume 2, section 13.3). `None` if the payload ends earlier.
pub fn decode_ibs_op(raw: &[u8]) -> Option<IbsOp> {
    const CAPABILITIES_BYTES: usize = 4;
    const OP_DATA3: usize = 4;
    const LINEAR_ADDRESS: usize = 5;
    let register = |index: usize| {
        let at = CAPABILITIES_BYTES + index * 8;
        Some(u64::from_le_bytes(raw.get(at..at + 8)?.try_into().ok()?))
    };
    let data3 = register(OP_DATA3)?;
    let kind = match (data3 & 1 != 0, data3 & 2 != 0) {
        (_, true) => AccessKind::Store,
        (true, false) => AccessKind::Load,
        (false, false) => AccessKind::Other,
    };
    let valid = data3 & (1 << 17) != 0;
    Some(IbsOp {
        kind,
        addr: register(LINEAR_ADDRESS).filter(|_| valid),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(data3: u64, linear: u64) -> Vec<u8> {
        let mut bytes = 0x3ffu32.to_le_bytes().to_vec();
        for register in [0x4_0001, 0x40_1000, 0, 0, data3, linear, 0] {
            bytes.extend(u64::to_le_bytes(register));
        }
        bytes
    }

    #[test]
    fn store_load_and_neither_are_told_apart() {
        let decode = |data3| decode_ibs_op(&payload(data3, 0x7000)).unwrap();
        assert_eq!(
            decode(0b10 | 1 << 17),
            IbsOp {
                kind: AccessKind::Store,
                addr: Some(0x7000)
            }
        );
        assert_eq!(decode(0b01).kind, AccessKind::Load);
        assert_eq!(decode(0b11).kind, AccessKind::Store, "read-modify-write");
        assert_eq!(decode(0).kind, AccessKind::Other);
    }

    #[test]
    fn an_address_not_marked_valid_is_not_used() {
        assert_eq!(decode_ibs_op(&payload(0b10, 0x7000)).unwrap().addr, None);
    }

    #[test]
    fn a_short_payload_tells_nothing() {
        assert_eq!(decode_ibs_op(&payload(2, 0)[..40]), None);
    }
}
