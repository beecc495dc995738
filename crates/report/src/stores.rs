//! Stores by function and calling context: the first pass (P0, section 6.2.1).

use crate::finding::LineStores;
use crate::human::share;
use crate::location::named;
use crate::place::NamedPlace;
use crate::report::SCHEMA_VERSION;
use crate::resolve::{Resolver, SiteKind};
use crate::run::Run;
use prestore_trace::SiteId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Stores of one instruction in one calling context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteStores {
    /// The store.
    pub site: SiteId,
    /// Calls that led to it, innermost first; empty where contexts were not recorded.
    pub call_chain: Vec<SiteId>,
    /// Whether the chain holds call instructions or return addresses (sampled call chains).
    pub chain_kind: SiteKind,
    /// Stores executed, or estimated from samples.
    pub stores: u64,
}

/// Stores of a function from one calling context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Caller {
    /// The call that led to the function.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// Stores of the function from here.
    pub stores: u64,
    /// Of the function's stores, 0 to 1.
    pub share: f64,
    /// The whole context, innermost call (`place`) first.
    pub call_chain: Vec<NamedPlace>,
}

/// Stores of one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionStores {
    /// The function, at the instruction that stores most.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// Stores executed, or estimated from samples.
    pub stores: u64,
    /// Of all the program's stores, 0 to 1.
    pub share: f64,
    /// The lines that store, most stores first; empty without line information.
    pub lines: Vec<LineStores>,
    /// Calling contexts, most stores first.
    pub callers: Vec<Caller>,
}

/// Who writes. Serialised, it is the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoresByFunction {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What was run and how it was observed.
    #[serde(flatten)]
    pub run: Run,
    /// Instructions executed by all threads, `None` where they were not counted.
    pub instructions: Option<u64>,
    /// Stores executed, or estimated from samples.
    pub stores: u64,
    /// Most stores first.
    pub functions: Vec<FunctionStores>,
}

/// A calling context's places and its stores.
type Context = (Vec<NamedPlace>, u64);

#[derive(Default)]
struct Group {
    places: Vec<(NamedPlace, u64)>,
    /// Where in `places` an offset is: without symbols, a module of a hundred thousand stores is one group.
    place_at: HashMap<u64, usize>,
    contexts: BTreeMap<Vec<(String, u64)>, Context>,
    stores: u64,
}

impl StoresByFunction {
    /// Groups `counts` by source-level function of a module.
    pub fn new(
        counts: impl IntoIterator<Item = SiteStores>,
        instructions: Option<u64>,
        run: Run,
        resolver: &mut dyn Resolver,
    ) -> Self {
        let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
        let mut total = 0u64;
        for count in counts {
            total += count.stores;
            let place = named(count.site, SiteKind::Instruction, resolver);
            let chain: Vec<NamedPlace> = count
                .call_chain
                .iter()
                .map(|&s| named(s, count.chain_kind, resolver))
                .collect();
            let key = (place.module.clone(), function_key(&place));
            groups
                .entry(key)
                .or_default()
                .add(place, chain, count.stores);
        }
        let mut functions: Vec<FunctionStores> =
            groups.into_values().map(|g| g.finish(total)).collect();
        functions.sort_by(|a, b| {
            (b.stores.cmp(&a.stores)).then_with(|| a.place.function.cmp(&b.place.function))
        });
        Self {
            schema_version: SCHEMA_VERSION,
            run,
            instructions,
            stores: total,
            functions,
        }
    }
}

/// Places without a symbol are one group a module: single offsets would drown the list.
fn function_key(place: &NamedPlace) -> String {
    if place.function == place.module_offset() {
        String::new()
    } else {
        place.function.clone()
    }
}

impl Group {
    fn add(&mut self, place: NamedPlace, chain: Vec<NamedPlace>, stores: u64) {
        self.stores += stores;
        if !chain.is_empty() {
            let key = chain.iter().map(|c| (c.module.clone(), c.offset)).collect();
            self.contexts.entry(key).or_insert((chain, 0)).1 += stores;
        }
        let next = self.places.len();
        let at = *self.place_at.entry(place.offset).or_insert(next);
        if at == next {
            self.places.push((place, 0));
        }
        self.places[at].1 += stores;
    }

    fn finish(mut self, total: u64) -> FunctionStores {
        self.places
            .sort_by(|a, b| (b.1.cmp(&a.1)).then_with(|| a.0.offset.cmp(&b.0.offset)));
        let mut callers: Vec<Caller> = self
            .contexts
            .into_values()
            .filter_map(|(chain, stores)| {
                Some(Caller {
                    place: chain.first()?.clone(),
                    stores,
                    share: share(stores, self.stores),
                    call_chain: chain,
                })
            })
            .collect();
        callers.sort_by_key(|c| std::cmp::Reverse(c.stores));
        FunctionStores {
            lines: LineStores::from_places(self.places.iter().map(|(p, n)| (p, *n))),
            place: self
                .places
                .into_iter()
                .next()
                .map(|p| p.0)
                .unwrap_or_default(),
            stores: self.stores,
            share: share(self.stores, total),
            callers,
        }
    }
}
