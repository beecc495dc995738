//! Findings with names, as text, JSON and SARIF.
//!
//! Design constraints:
//! - it does not know how code is named: a [`Resolver`] turns a site into functions and lines;
//! - [`Report`] *is* the JSON output: what is serialised is what every other form is made from, so
//!   that nothing is in one form and missing in another unsaid;
//! - it decides nothing about pre-stores: verdicts and reasons come from `prestore-dirtbuster`.

mod account;
mod annotate;
mod apart;
mod beside;
mod crash;
mod finding;
mod function_names;
mod golang;
mod human;
mod json;
mod location;
mod pitfall;
mod place;
mod report;
mod resolve;
mod run;
mod sarif;
mod stalls;
mod stores;
mod system;
mod text;
mod whatif;

pub use annotate::{DiskSources, Sources};
pub use apart::beside_line;
pub use crash::{
    About as CrashAbout, CrashReport, Helper, ImagesTried, InLibrary, LibraryCaller, LostStore,
    NamedCrashFinding, NamedFailure, NamedImage, Names, Refused, crash_text,
};
pub use finding::{Allocation, Context, InstructionShare, LineStores, NamedFinding, Predicted};
pub use function_names::shortened;
pub use golang::is_go_function;
pub use human::{bytes, count, distance, percent, seconds};
pub use json::to_json;
pub use pitfall::NamedPitfall;
pub use place::NamedPlace;
pub use report::{ADVISE_SCHEMA_VERSION, Report, SCHEMA_VERSION, Totals};
pub use resolve::{Frame, Place, Resolver, SiteKind};
pub use run::{Demoting, Exactness, ExactnessKind, Run, ThreadTotals, quoted};
pub use sarif::{SarifLog, crash_to_sarif, to_sarif};
pub use stores::{Caller, FunctionStores, SiteStores, StoresByFunction};
pub use system::{is_generic_library, is_system_library, is_system_path};
pub use text::{TextOptions, list_text, message_text, report_text, simulation_text, stores_text};
pub use whatif::{Accuracy, Followed, NamedEffect, NamedMachine, WhatIfReport, gain, whatif_text};
