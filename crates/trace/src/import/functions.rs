//! Stores by function and calling context, from samples.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Frame, Sample, Samples};

/// Which functions store, and from where they were called.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StoreProfile {
    /// Stores in all, estimated: the sum of the samples' periods.
    pub stores: u64,
    /// Samples of stores.
    pub samples: u64,
    /// Functions, most stores first.
    pub functions: Vec<FunctionStores>,
    /// What these figures are not, in words to be printed with them.
    pub limits: Vec<String>,
}

/// A function's stores.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionStores {
    /// Its name, where known.
    pub symbol: Option<String>,
    /// Its module, where known.
    pub module: Option<String>,
    /// Estimated stores.
    pub stores: u64,
    /// Its part of all stores, 0 to 1.
    pub share: f64,
    /// Samples.
    pub samples: u64,
    /// Calling contexts, most stores first.
    pub contexts: Vec<Context>,
}

/// The stores of a function called in one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Names of the callers, innermost first; `[unknown]` where a name is missing.
    pub callers: Vec<String>,
    /// Estimated stores.
    pub stores: u64,
}

type Key<'a> = (Option<&'a str>, Option<&'a str>);

#[derive(Default)]
struct Sum {
    stores: u64,
    samples: u64,
    contexts: BTreeMap<Vec<String>, u64>,
}

impl Samples {
    /// Sums up the samples that are stores.
    pub fn store_profile(&self) -> StoreProfile {
        let stores = || self.samples.iter().filter(|s| s.is_store == Some(true));
        let mut by_function: BTreeMap<Key<'_>, Sum> = BTreeMap::new();
        let mut profile = StoreProfile {
            limits: self.limits(),
            ..StoreProfile::default()
        };
        for s in stores() {
            let key = (s.at.symbol.as_deref(), s.at.module.as_deref());
            let sum = by_function.entry(key).or_default();
            sum.stores = sum.stores.saturating_add(s.period);
            sum.samples += 1;
            let of_context = sum.contexts.entry(callers(s)).or_default();
            *of_context = of_context.saturating_add(s.period);
            profile.stores = profile.stores.saturating_add(s.period);
            profile.samples += 1;
        }
        let all = profile.stores.max(1) as f64;
        let functions = by_function.into_iter().map(|((symbol, module), sum)| {
            let mut contexts: Vec<_> = sum
                .contexts
                .into_iter()
                .map(|(callers, stores)| Context { callers, stores })
                .collect();
            contexts.sort_by_key(|c| std::cmp::Reverse(c.stores));
            FunctionStores {
                symbol: symbol.map(str::to_owned),
                module: module.map(str::to_owned),
                stores: sum.stores,
                share: sum.stores as f64 / all,
                samples: sum.samples,
                contexts,
            }
        });
        profile.functions = functions.collect();
        profile
            .functions
            .sort_by_key(|f| std::cmp::Reverse(f.stores));
        profile
    }

    fn limits(&self) -> Vec<String> {
        let mut limits = vec![
            "samples, not all stores: shares are estimates, and order, sequentiality, distances \
             and fences are unknown; record the program for verdicts"
                .to_owned(),
        ];
        let unknown = self.samples.iter().filter(|s| s.is_store.is_none()).count();
        if unknown > 0 {
            limits.push(format!(
                "{unknown} samples do not say whether they are stores and are not counted (field \
                 data_src, or an event of stores, would tell)"
            ));
        }
        if self.samples.iter().all(|s| s.callers.is_empty()) {
            limits.push(
                "the samples have no call chains (perf record -g): one context a function"
                    .to_owned(),
            );
        }
        if self.skipped_lines > 0 {
            let first = self
                .skipped
                .first()
                .map_or(String::new(), |s| format!(" ({s})"));
            let lines = self.skipped_lines;
            limits.push(format!(
                "{lines} lines of the input were not understood{first}"
            ));
        }
        limits
    }
}

fn callers(sample: &Sample) -> Vec<String> {
    let name = |f: &Frame| f.symbol.clone().unwrap_or_else(|| "[unknown]".to_owned());
    sample.callers.iter().map(name).collect()
}
