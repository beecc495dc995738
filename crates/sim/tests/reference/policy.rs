//! Who has to go: the replacement policies.

use prestore_machine::Replacement;

/// The oldest age of QLRU.
const OLDEST: u8 = 3;

/// The generator of an instance.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    pub fn of(seed: u64, level: usize, instance: usize) -> Self {
        let number = level as u64 * (1 << 16) + instance as u64 + 1;
        Self(seed.wrapping_add(number.wrapping_mul(0x6A09_E667_F3BC_C909)))
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// What a policy knows of a set.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Ways, least recently used first.
    Lru(Vec<usize>),
    /// The nodes of a tree, the root first, the children of node `n` at `2n + 1` and `2n + 2`: does it point
    /// to the second half?
    Tree(Vec<bool>),
    /// An age a way.
    Qlru {
        ages: Vec<u8>,
        hit: u8,
        insert: u8,
        distant: f64,
    },
    /// A bit a way.
    Nru(Vec<bool>),
    /// So many ways.
    Random(usize),
}

impl Policy {
    pub fn new(replacement: Replacement, ways: usize) -> Self {
        match replacement {
            Replacement::Lru => Self::Lru((0..ways).collect()),
            Replacement::TreePlru => Self::Tree(vec![false; ways - 1]),
            Replacement::Qlru {
                hit,
                insert,
                distant,
            } => Self::Qlru {
                ages: vec![OLDEST; ways],
                hit,
                insert,
                distant: distant.0,
            },
            Replacement::Nru => Self::Nru(vec![false; ways]),
            Replacement::Random => Self::Random(ways),
        }
    }

    pub fn hit(&mut self, way: usize) {
        match self {
            Self::Lru(order) => {
                order.retain(|&other| other != way);
                order.push(way);
            }
            Self::Tree(nodes) => point_away(nodes, way),
            Self::Qlru { ages, hit, .. } => ages[way] = *hit,
            Self::Nru(used) => {
                used[way] = true;
                if used.iter().all(|&used| used) {
                    used.fill(false);
                    used[way] = true;
                }
            }
            Self::Random(_) => {}
        }
    }

    /// Will the fill that begins be a distant one?
    pub fn draws_distant(&self, random: &mut SplitMix) -> bool {
        match self {
            Self::Qlru { distant, .. } if *distant > 0.0 => {
                ((random.draw() >> 11) as f64) < distant * (1u64 << 53) as f64
            }
            _ => false,
        }
    }

    pub fn filled(&mut self, way: usize, is_distant: bool) {
        match self {
            Self::Qlru { ages, insert, .. } => {
                ages[way] = if is_distant { OLDEST } else { *insert };
            }
            _ => self.hit(way),
        }
    }

    /// Of a set without an empty way.
    pub fn victim(&mut self, random: &mut SplitMix) -> usize {
        match self {
            Self::Lru(order) => order[0],
            Self::Tree(nodes) => pointed_at(nodes),
            Self::Qlru { ages, .. } => loop {
                if let Some(way) = ages.iter().position(|&age| age == OLDEST) {
                    break way;
                }
                ages.iter_mut().for_each(|age| *age += 1);
            },
            Self::Nru(used) => used.iter().position(|&used| !used).unwrap_or(0),
            Self::Random(ways) => {
                let scaled = u128::from(random.draw()) * *ways as u128;
                (scaled >> 64) as usize
            }
        }
    }
}

/// All nodes on the way from the root to `way` point to the other side.
fn point_away(nodes: &mut [bool], way: usize) {
    let (mut node, mut first, mut size) = (0, 0, nodes.len() + 1);
    while size > 1 {
        size /= 2;
        let is_second = way >= first + size;
        nodes[node] = !is_second;
        node = 2 * node + 1 + usize::from(is_second);
        first += if is_second { size } else { 0 };
    }
}

fn pointed_at(nodes: &[bool]) -> usize {
    let (mut node, mut first, mut size) = (0, 0, nodes.len() + 1);
    while size > 1 {
        size /= 2;
        let is_second = nodes[node];
        node = 2 * node + 1 + usize::from(is_second);
        first += if is_second { size } else { 0 };
    }
    first
}
