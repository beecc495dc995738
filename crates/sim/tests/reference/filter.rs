//! A snoop filter of limited size.

use prestore_machine::SnoopFilter;

pub struct Filter {
    ways: usize,
    /// Lines, the one that was added to last at the end.
    sets: Vec<Vec<u64>>,
}

impl Filter {
    pub fn new(size: SnoopFilter) -> Self {
        let sets = size.entries / u64::from(size.ways);
        Self {
            ways: size.ways as usize,
            sets: vec![Vec::new(); sets as usize],
        }
    }

    fn set(&mut self, line: u64) -> &mut Vec<u64> {
        let sets = self.sets.len() as u64;
        &mut self.sets[(line % sets) as usize]
    }

    /// A core was added to who has `line`, or upgraded. Answers the line whose entry went.
    pub fn added(&mut self, line: u64) -> Option<u64> {
        let ways = self.ways;
        let set = self.set(line);
        let is_there = set.contains(&line);
        set.retain(|&other| other != line);
        let gone = (!is_there && set.len() == ways).then(|| set.remove(0));
        set.push(line);
        gone
    }

    pub fn forget(&mut self, is_gone: impl Fn(u64) -> bool) {
        for set in &mut self.sets {
            set.retain(|&line| !is_gone(line));
        }
    }
}
