//! What the recorder wrote.

/// Sums of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    pub pid: u32,
    pub tid: u32,
    /// Recorded.
    pub instrs: u64,
    /// Executed, recorded or not.
    pub total: u64,
    /// Stretches that were not recorded.
    pub skips: u64,
    /// Windows of bursts that it was recorded in, by number.
    pub windows: Vec<u64>,
    pub loads: u64,
    pub stores: u64,
    pub allocs: u64,
}

/// What windows and regions let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub recorded: u64,
    pub skipped: u64,
    pub regions: u64,
}

/// A recording's facts.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub error: Option<String>,
    pub status: String,
    pub program: String,
    pub failure: Option<String>,
    /// What processes told the user.
    pub notes: Vec<String>,
    pub interrupted: bool,
    pub torn: u32,
    pub coverage: Option<Coverage>,
    /// Process ids and their parents'.
    pub processes: Vec<(u32, u32)>,
    pub threads: Vec<Thread>,
    /// Events as the recorder lists them, without the leading word.
    pub events: Vec<String>,
}

impl Facts {
    pub fn parse(text: &str) -> Self {
        let mut facts = Self::default();
        for line in text.lines() {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            let number = |name: &str| -> u64 {
                let mut words = rest.split(' ');
                let found = words.find(|w| *w == name);
                assert!(found.is_some(), "no {name}: {line}");
                words.next().unwrap().parse().unwrap()
            };
            match key {
                "event" => facts.events.push(rest.into()),
                "process" => facts
                    .processes
                    .push((number("pid") as u32, number("parent") as u32)),
                "thread" => facts.threads.push(Thread {
                    pid: number("pid") as u32,
                    tid: number("tid") as u32,
                    instrs: number("instrs"),
                    total: number("total"),
                    skips: number("skips"),
                    windows: {
                        let list = rest.split(' ').next_back().unwrap();
                        list.split(',').filter_map(|n| n.parse().ok()).collect()
                    },
                    loads: number("loads"),
                    stores: number("stores"),
                    allocs: number("allocs"),
                }),
                "status" => facts.status = rest.into(),
                "program" => facts.program = rest.into(),
                "interrupted" => facts.interrupted = rest == "true",
                "torn" => facts.torn = rest.parse().unwrap(),
                "coverage" => {
                    facts.coverage = Some(Coverage {
                        recorded: number("recorded"),
                        skipped: number("skipped"),
                        regions: number("regions"),
                    });
                }
                "note" => facts.notes.push(rest.into()),
                "failure" => facts.failure = Some(rest.into()),
                "error" => facts.error = Some(rest.into()),
                _ => {}
            }
        }
        facts
    }

    /// Numbers of the threads in the order of their start: their ids grow.
    pub fn by_start(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        order.sort_by_key(|&t| self.threads[t].tid);
        order
    }

    /// The events of a program with one thread in `bytes` of memory from `area` on: `KIND OFFSET BYTES`.
    pub fn accesses(&self, area: u64, bytes: u64) -> Vec<String> {
        let events = self.events.iter().filter_map(|e| {
            let words: Vec<&str> = e.split(' ').collect();
            let address = u64::from_str_radix(words[3].strip_prefix("0x")?, 16).ok()?;
            let offset = address.checked_sub(area)?;
            (offset < bytes).then(|| format!("{} {offset} {}", words[2], words[4]))
        });
        events.collect()
    }

    pub fn instrs(&self) -> u64 {
        self.threads.iter().map(|t| t.instrs).sum()
    }

    pub fn total(&self) -> u64 {
        self.threads.iter().map(|t| t.total).sum()
    }

    pub fn loads(&self) -> u64 {
        self.threads.iter().map(|t| t.loads).sum()
    }

    pub fn stores(&self) -> u64 {
        self.threads.iter().map(|t| t.stores).sum()
    }
}
