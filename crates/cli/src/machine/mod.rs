//! `prestore machine`.

mod list;
mod show;

pub use list::list;
pub use show::show;

/// Where machines are looked for.
pub const WHERE: &str = "\
A machine is looked for in the folders of PRESTORE_MACHINE_PATH (separated by colons), then in
$XDG_CONFIG_HOME/prestore/machines (~/.config/prestore/machines), then among those shipped.";
