use prestore::{MapError, MemoryType, MemoryTypes};

use super::human;
use crate::check::{Check, Remedy, Status};

const NAME: &str = "memory-types";
const WITHOUT: &str = "no memory of a chosen type: prestore_map and `prestore bench --types` do not work, all else does";

/// The kernel module that gives memory of a chosen type.
pub(crate) fn memory_types(module: &Result<MemoryTypes, MapError>) -> Check {
    let offered = match module {
        Ok(offered) => offered,
        Err(error) => return lack(error),
    };
    let names = |all: &mut dyn Iterator<Item = MemoryType>| {
        all.map(MemoryType::name).collect::<Vec<_>>().join(", ")
    };
    let has = names(&mut MemoryType::ALL.into_iter().filter(|t| offered.has(*t)));
    let lacks = names(&mut MemoryType::ALL.into_iter().filter(|t| !offered.has(*t)));
    let detail = format!(
        "the module prestore gives {has}, up to {}, of which {} are given",
        human(offered.limit),
        human(offered.used)
    );
    if lacks.is_empty() {
        return Check::ok(NAME, detail);
    }
    Check::lack(
        NAME,
        Status::Degraded,
        detail,
        format!("the kernel runs without PAT, or the PAT has no entry for {lacks}"),
        Remedy::Nothing("boot without nopat on the kernel's command line".to_owned()),
    )
}

fn lack(error: &MapError) -> Check {
    let remedy = match error.code() {
        libc::ENOENT | libc::ENXIO | libc::ENODEV => Remedy::Run(
            "sudo make install-kernel && sudo dkms install prestore/0.1.0 && sudo modprobe prestore"
                .replace("0.1.0", env!("CARGO_PKG_VERSION")),
        ),
        libc::EACCES | libc::EPERM => Remedy::Run("sudo chmod a+rw /dev/prestore".to_owned()),
        libc::ENOSYS => Remedy::Nothing("an x86-64 machine has them".to_owned()),
        _ => Remedy::Nothing("the module of this version's kernel/ (docs/memory-types.md)".to_owned()),
    };
    Check::lack(NAME, Status::Missing, WITHOUT, error.to_string(), remedy)
}
