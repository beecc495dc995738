//! Which functions to look at closely.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::takers::Counter;
use crate::naming::Namer;

/// Functions are taken until they make up this share of all stores.
const ENOUGH: f64 = 0.90;
/// Functions with a smaller share are not taken.
const LEAST: f64 = 0.01;

/// Names of the functions that make up most stores, most first.
pub fn most_stores(counter: Counter, debug_dirs: &[PathBuf]) -> Vec<String> {
    let total = counter.total_stores().max(1) as f64;
    let mut namer = Namer::new(counter.sites, debug_dirs);
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    for (site, stores) in counter.stores {
        if let Some(function) = namer.function(site) {
            *by_name.entry(function.name.to_string()).or_default() += stores;
        }
    }
    let mut ranked: Vec<(String, u64)> = by_name.into_iter().collect();
    ranked.sort_by_key(|(name, stores)| (std::cmp::Reverse(*stores), name.clone()));
    let mut sum = 0.0;
    ranked
        .into_iter()
        .take_while(|(_, stores)| {
            let share = *stores as f64 / total;
            let wanted = sum < ENOUGH && share >= LEAST;
            sum += share;
            wanted
        })
        .map(|(name, _)| name)
        .collect()
}
