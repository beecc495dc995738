//! What became of the data that a store, or a place in the code, wrote.

use prestore_trace::SiteId;
use rustc_hash::FxHashMap;

use crate::far::Far;
use crate::fences::FenceHistogram;
use crate::fresh::Fresh;
use crate::loaded::Loaded;
use crate::lone::Lone;
use crate::told::Told;
use crate::usage::Usage;

/// What became of the data that was written at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// Lines written other than in sequential contexts, and bytes.
    pub(crate) scattered: Usage,
    pub(crate) scattered_bytes: u64,
    /// Lines that it wrote when an atomic of its thread had just taken them.
    pub(crate) after_atomic: u64,
    /// Sequential contexts by the power of two of their size.
    pub(crate) classes: Vec<SizeClass>,
    /// Lines of which other code of the thread wrote other bytes, just before or after.
    pub(crate) joint: u64,
    /// Lines that other code of the thread wrote again soon, as a fence would have to follow to wait for them.
    pub(crate) returned: u64,
    /// Lines that contexts went on with behind a fence.
    pub(crate) parted: u64,
    /// Threads of one process that wrote here in sequence.
    pub(crate) writers: u32,
    pub(crate) loaded: Loaded,
    pub(crate) fresh: Fresh,
    pub(crate) lone: Lone,
    pub(crate) far: Far,
    pub(crate) told: Told,
    pub(crate) fences: FenceHistogram,
    /// Bytes by allocation site.
    pub(crate) allocations: FxHashMap<SiteId, u64>,
}

impl Written {
    pub(crate) fn add(&mut self, o: &Self) {
        self.scattered.merge(&o.scattered);
        self.scattered_bytes += o.scattered_bytes;
        self.after_atomic += o.after_atomic;
        self.fences.merge(&o.fences);
        self.joint += o.joint;
        self.returned += o.returned;
        self.parted += o.parted;
        self.writers = self.writers.max(o.writers);
        self.loaded.merge(&o.loaded);
        self.fresh.merge(&o.fresh);
        self.lone.merge(&o.lone);
        self.far.merge(&o.far);
        self.told.merge(&o.told);
        for class in &o.classes {
            add_class(&mut self.classes, class);
        }
        for (site, bytes) in &o.allocations {
            *self.allocations.entry(*site).or_default() += bytes;
        }
    }

    /// Adds `o` to what may be known.
    pub(crate) fn add_if_any(known: &mut Option<Box<Self>>, o: Option<Box<Self>>) {
        match (known, o) {
            (Some(known), Some(o)) => known.add(&o),
            (known @ None, o) => *known = o,
            (Some(_), None) => {}
        }
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.scattered.scale(weight);
        self.scattered_bytes *= weight;
        self.after_atomic *= weight;
        self.fences.scale(weight);
        self.joint *= weight;
        self.returned *= weight;
        self.parted *= weight;
        self.loaded.scale(weight);
        self.fresh.scale(weight);
        self.lone.scale(weight);
        self.far.scale(weight);
        self.told.scale(weight);
        for class in &mut self.classes {
            class.scale(weight);
        }
        for bytes in self.allocations.values_mut() {
            *bytes *= weight;
        }
    }
}

/// Sequential contexts of about one size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SizeClass {
    pub(crate) log2: u32,
    pub(crate) count: u64,
    /// Sum of their sizes, bytes.
    pub(crate) spans: u64,
    /// Sum of the bytes written in them.
    pub(crate) covered: u64,
    pub(crate) usage: Usage,
    /// Lines that count as re-read near the core: those of an object of which one was.
    pub(crate) reused: u64,
    /// Lines of which other bytes were not written: at the ends of contexts, and those with gaps where half of them have.
    pub(crate) in_part: u64,
}

impl SizeClass {
    pub(crate) fn merge(&mut self, o: &Self) {
        self.count += o.count;
        self.spans += o.spans;
        self.covered += o.covered;
        self.usage.merge(&o.usage);
        self.reused += o.reused;
        self.in_part += o.in_part;
    }

    /// Part of its lines that count as re-read near the core.
    pub(crate) fn reused_share(&self) -> f64 {
        self.usage.reread_near_share(self.reused).min(1.0)
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.reused *= self.usage.weight_of_reads(weight);
        self.usage.scale(weight);
        let sums = [&mut self.count, &mut self.spans, &mut self.covered];
        for n in sums.into_iter().chain([&mut self.in_part]) {
            *n *= weight;
        }
    }
}

/// Adds `class` to the one of its size in `classes`, kept by size.
pub(crate) fn add_class(classes: &mut Vec<SizeClass>, class: &SizeClass) {
    match classes.binary_search_by_key(&class.log2, |c| c.log2) {
        Ok(at) => classes[at].merge(class),
        Err(at) => {
            // Most origins have one: room for more would be most of what an origin takes.
            classes.reserve_exact(1);
            classes.insert(at, *class);
        }
    }
}
