//! A block: what its registers hold at entry, and the mix of its instructions.

use super::features::Features;
use super::generate::{ARENA, Gen, STACK_TOP, Unit};
use super::regs::{RSP, Value};
use super::rng::Rng;
use super::scalar::{FLAGS_READ, LOUD, QUIET};

/// One random block.
#[derive(Clone)]
pub struct Block {
    pub name: String,
    pub units: Vec<Unit>,
    /// At entry.
    pub regs: [Value; 16],
    /// At entry; bits as in the register.
    pub flags: u64,
    /// Registers and vector registers that it leaves alone.
    pub constant: u16,
    pub constant_vectors: u32,
    /// Of the arena's last two pages: 0 accessible, 1 read-only, 2 not at all.
    pub protect: [u8; 2],
}

/// What a block is mostly made of.
#[derive(Clone, Copy)]
enum Mood {
    Mixed,
    Scalar,
    Vector,
    Stack,
    Control,
    Strings,
    Tiles,
}

impl Block {
    /// One of given `lines`, which starts with random numbers in all registers but `rsp`.
    pub fn of_lines(lines: &[&str], protect: [u8; 2]) -> Self {
        let mut regs = [Value::Data; 16];
        regs[RSP] = Value::Stack(STACK_TOP);
        Self {
            name: "block_0".into(),
            units: vec![lines.iter().map(|&l| l.into()).collect()],
            regs,
            flags: 0x8d5,
            constant: 0,
            constant_vectors: 0,
            protect,
        }
    }
}

impl Gen<'_> {
    /// An instruction, or a few that belong together, without branches.
    pub fn plain(&mut self) {
        for _ in 0..20 {
            let done = match self.rng.below(20) {
                0..6 => self.one_of(&[QUIET]),
                6..10 => self.one_of(&[LOUD]),
                10..12 => self.one_of(&[FLAGS_READ]),
                12..15 => self.fixed(),
                15 => self.string(),
                16 | 17 => self.stack(),
                _ => self.vector(),
            };
            if done {
                return;
            }
        }
    }

    fn step(&mut self, mood: Mood) {
        let done = match (mood, self.rng.below(4)) {
            (Mood::Mixed, _) => false,
            (Mood::Scalar, 0..3) => self.one_of(&[QUIET, LOUD, FLAGS_READ]),
            (Mood::Vector, 0..3) => self.vector(),
            (Mood::Stack, 0..2) => self.stack(),
            (Mood::Control, 0..2) => self.control(),
            (Mood::Strings, 0..2) => self.string(),
            (Mood::Tiles, 0..3) => self.tiles(),
            _ => false,
        };
        if done {
            return;
        }
        match self.rng.below(24) {
            0..2 => {
                self.control();
            }
            2 => {
                self.fault();
            }
            3 => {
                self.saved_state();
            }
            _ => self.plain(),
        }
    }
}

/// The block of this `seed` and `number`; `name` makes its labels unique.
pub fn block(seed: u64, number: u64, features: &Features) -> Block {
    let mut rng = Rng::new(seed, number);
    let mut regs = [Value::Data; 16];
    // Addresses in all registers, in few, or in none.
    let addresses = rng.below(4);
    for value in &mut regs {
        *value = match rng.below(8) {
            0..3 if addresses < 2 => Value::Arena(rng.range(0, ARENA)),
            3..7 if addresses == 0 => Value::Arena(rng.range(0, ARENA)),
            3 => Value::Dirty(rng.range(0, ARENA)),
            4 => Value::Int(rng.range(-20, 100)),
            _ => Value::Data,
        };
    }
    regs[RSP] = Value::Stack(STACK_TOP);
    // Carry, parity, auxiliary, zero, sign, overflow, and the one that tells of cpuid.
    let flags = rng.next() & 0x20_08d5;
    let length = match rng.below(12) {
        0 => rng.range(260, 400),
        1..4 => rng.range(1, 6),
        _ => rng.range(6, 40),
    };
    let mut moods = vec![
        Mood::Mixed,
        Mood::Mixed,
        Mood::Scalar,
        Mood::Vector,
        Mood::Stack,
        Mood::Control,
        Mood::Strings,
    ];
    if features.has_tiles() {
        moods.push(Mood::Tiles);
    }
    let mood = *rng.pick(&moods);
    let protect = if rng.once_in(5) {
        [rng.below(3) as u8, rng.below(3) as u8]
    } else {
        [0, 0]
    };
    let name = format!("block_{number}");
    let mut g = Gen::new(rng, features, name.clone());
    g.regs = regs;
    for _ in 0..length {
        g.units.push(vec![]);
        g.step(mood);
    }
    Block {
        name,
        units: g.units,
        regs,
        flags,
        constant: !g.written,
        constant_vectors: !g.written_vectors,
        protect,
    }
}
