//! Who else used the CPUs while something was measured.

use std::fs;

use serde::Serialize;

/// Share of a CPU that others may use: more than a quiet system's own work.
const OTHERS: f64 = 0.10;
/// Share of the CPUs' time that a hypervisor may take.
const STOLEN: f64 = 0.02;

/// CPU time since the system started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// All time of all CPUs.
    total: u64,
    /// Of it, doing nothing.
    idle: u64,
    /// Of it, taken by the hypervisor for others.
    stolen: u64,
    /// Of it, this process and the children it has waited for.
    own: u64,
    /// CPUs.
    cpus: u64,
}

impl CpuTime {
    /// Now; `None` where the system does not say.
    pub fn now() -> Option<Self> {
        let system = fs::read_to_string("/proc/stat").ok()?;
        Self::parse(&system, &fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Of the contents of `/proc/stat` and `/proc/self/stat` (proc(5)).
    pub fn parse(system: &str, own: &str) -> Option<Self> {
        let mut lines = system.lines();
        let all = lines.next()?.strip_prefix("cpu ")?;
        // user nice system idle iowait irq softirq steal; guests are counted in user and nice already.
        let times: Vec<u64> = all
            .split_whitespace()
            .map_while(|t| t.parse().ok())
            .collect();
        let at = |i: usize| times.get(i).copied().unwrap_or(0);
        // The name, in brackets, may hold anything; utime, stime, cutime, cstime are the 12th to 15th field behind it.
        let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
        let own = fields.get(11..15)?.iter().map(|t| t.parse::<u64>());
        Some(Self {
            total: times.iter().take(8).sum(),
            idle: at(3) + at(4),
            stolen: at(7),
            own: own.sum::<Result<u64, _>>().ok()?,
            cpus: lines.take_while(|l| l.starts_with("cpu")).count() as u64,
        })
    }

    /// What happened since `before`; `None` where no time has passed.
    pub fn since(&self, before: &Self) -> Option<Load> {
        let total = self.total.checked_sub(before.total).filter(|t| *t > 0)? as f64;
        let passed = |now: u64, then: u64| now.saturating_sub(then) as f64;
        let idle = passed(self.idle, before.idle);
        let stolen = passed(self.stolen, before.stolen);
        let own = passed(self.own, before.own);
        Some(Load {
            others: (total - idle - stolen - own).max(0.0) / total * self.cpus.max(1) as f64,
            stolen: stolen / total,
        })
    }
}

/// How busy the host was with other work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// CPUs that other processes used, on average.
    pub others: f64,
    /// Share of all CPUs' time that a hypervisor took, 0 to 1.
    pub stolen: f64,
}

impl Load {
    /// Why measurements at that time are not to be trusted; `None`: they are.
    pub fn busy(&self) -> Option<String> {
        let mut why = Vec::new();
        if self.others > OTHERS {
            why.push(format!("other processes used {:.1} CPUs", self.others));
        }
        if self.stolen > STOLEN {
            why.push(format!(
                "the hypervisor took {:.0}% of the CPUs' time",
                self.stolen * 100.0
            ));
        }
        (!why.is_empty()).then(|| why.join(", and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(user: u64, idle: u64, stolen: u64, own: [u64; 4]) -> CpuTime {
        let system =
            format!("cpu  {user} 0 0 {idle} 0 0 0 {stolen} 0 0\ncpu0 0 0\ncpu1 0 0\nintr 5\n");
        let [a, b, c, d] = own;
        let own = format!("7 (a (b) c) S 1 7 7 0 -1 4194560 1 0 0 0 {a} {b} {c} {d} 20 0 1 0");
        CpuTime::parse(&system, &own).unwrap()
    }

    #[test]
    fn what_this_process_and_its_children_do_is_not_others_work() {
        let before = at(1000, 5000, 10, [1, 2, 3, 4]);
        let after = at(1100, 5100, 10, [31, 12, 53, 14]);
        let load = after.since(&before).unwrap();
        assert_eq!(load, Load::default());
        assert_eq!(load.busy(), None);
    }

    #[test]
    fn others_are_counted_in_cpus() {
        let before = at(1000, 5000, 10, [0; 4]);
        // Of two CPUs' 200 ticks others use 50, this process 100.
        let load = at(1150, 5050, 10, [100, 0, 0, 0]).since(&before).unwrap();
        assert_eq!(load.others, 0.5);
        assert_eq!(load.busy().unwrap(), "other processes used 0.5 CPUs");
    }

    #[test]
    fn what_a_hypervisor_takes_is_busy() {
        let load = at(0, 90, 10, [0; 4]).since(&at(0, 0, 0, [0; 4])).unwrap();
        assert_eq!((load.others, load.stolen), (0.0, 0.1));
        assert!(load.busy().unwrap().contains("took 10%"));
    }

    #[test]
    fn no_time_says_nothing() {
        let now = at(1, 2, 3, [0; 4]);
        assert_eq!(now.since(&now), None);
        assert_eq!(CpuTime::parse("", ""), None);
        assert_eq!(CpuTime::parse("cpu  1 2 3 4\n", "1 (x) S"), None);
    }
}
