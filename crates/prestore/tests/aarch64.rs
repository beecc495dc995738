//! What stands behind the operations on AArch64 under Linux.
#![cfg(all(target_arch = "aarch64", target_os = "linux"))]
#![allow(missing_docs)]

use prestore::{Instruction, Op, query, usable};

#[test]
fn every_operation_has_its_instruction() {
    for (op, instruction) in [
        (Op::Demote, Instruction::DcCvau),
        (Op::Clean, Instruction::DcCvac),
        (Op::Skip, Instruction::Stnp),
    ] {
        let info = query(op);
        assert_eq!(info.instruction, instruction);
        assert!(info.active && usable(instruction));
        assert_eq!(info.line_source, "CTR_EL0.DminLine");
    }
    assert!(!usable(Instruction::Clwb));
}

#[test]
fn cleaning_and_demoting_change_no_data() {
    let data: Vec<u16> = (0..5000).collect();
    for start in [0, 1, 31, 32, 33] {
        prestore::clean(&data[start..]);
        prestore::demote(&data[start..]);
    }
    assert!((0..5000).eq(data));
}
