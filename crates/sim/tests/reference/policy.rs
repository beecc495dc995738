//! Replacement in one set, by lists.

use prestore_machine::Replacement;

use super::random::Draws;

#[derive(Clone, Debug)]
pub struct Policy {
    kind: Replacement,
    ways: usize,
    /// Ways, the least recently used first.
    recency: Vec<usize>,
    /// Nodes of the tree, root 0, children 2n+1 and 2n+2: is the victim on the right?
    right: Vec<bool>,
    ages: Vec<u8>,
    used: Vec<bool>,
}

impl Policy {
    pub fn new(kind: Replacement, ways: usize) -> Self {
        Self {
            kind,
            ways,
            recency: (0..ways).collect(),
            right: vec![false; ways],
            ages: vec![0; ways],
            used: vec![false; ways],
        }
    }

    pub fn hit(&mut self, way: usize) {
        match self.kind {
            Replacement::Lru => {
                self.recency.retain(|&w| w != way);
                self.recency.push(way);
            }
            Replacement::TreePlru => {
                let (mut node, mut first, mut size) = (0, 0, self.ways);
                while size > 1 {
                    size /= 2;
                    let is_right = way >= first + size;
                    self.right[node] = !is_right;
                    node = 2 * node + 1 + usize::from(is_right);
                    first += if is_right { size } else { 0 };
                }
            }
            Replacement::Qlru { hit, .. } => self.ages[way] = hit,
            Replacement::Random => {}
            Replacement::Nru => {
                self.used[way] = true;
                if self.used.iter().all(|&u| u) {
                    self.used.fill(false);
                    self.used[way] = true;
                }
            }
        }
    }

    pub fn fill(&mut self, way: usize, draws: &mut Draws) {
        let Replacement::Qlru {
            insert, distant, ..
        } = self.kind
        else {
            return self.hit(way);
        };
        let far =
            distant.0 > 0.0 && ((draws.next() / 2048) as f64) < distant.0 * 9_007_199_254_740_992.0;
        self.ages[way] = if far { 3 } else { insert };
    }

    /// The victim, all ways being taken.
    pub fn victim(&mut self, draws: &mut Draws) -> usize {
        match self.kind {
            Replacement::Lru => self.recency[0],
            Replacement::TreePlru => {
                let (mut node, mut first, mut size) = (0, 0, self.ways);
                while size > 1 {
                    size /= 2;
                    let right = self.right[node];
                    node = 2 * node + 1 + usize::from(right);
                    first += if right { size } else { 0 };
                }
                first
            }
            Replacement::Qlru { .. } => loop {
                if let Some(way) = self.ages.iter().position(|&age| age == 3) {
                    break way;
                }
                self.ages.iter_mut().for_each(|age| *age += 1);
            },
            Replacement::Random => ((u128::from(draws.next()) * self.ways as u128) >> 64) as usize,
            Replacement::Nru => self.used.iter().position(|&u| !u).unwrap_or(0),
        }
    }
}
