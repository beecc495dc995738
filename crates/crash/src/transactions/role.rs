//! What functions of libpmemobj do to a transaction, by their names. They are its interface, which has not changed since its version 1.0
//! (pmemobj_tx_begin(3), pmemobj_tx_add_range(3)); what they call inside is not named.

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Begins one, or another within it.
    Begin,
    /// Copies what is there to the undo log: it loads that, and no other memory of the program's objects.
    Add,
    /// Tells of its stage, or goes on to the next: only the program does that.
    Stage,
    /// Leaves it, as often as it was begun: so does only the program.
    End,
    /// Rolls it back.
    Abort,
    /// Makes a new object, or from an old one.
    Allocate,
    /// Frees an object, which may be new.
    Free,
    /// Makes what its caller names persistent, in a transaction or not.
    Persist,
    /// What it stores and flushes is the library's, or the transaction's at its commit.
    Other,
}

impl Role {
    /// That of the function `name`; `None`: it is none of libpmemobj, but leads to one (`@plt`), or is of its header.
    pub(super) fn of(name: &str) -> Option<Self> {
        let of_object = name.strip_prefix("pmemobj_")?;
        if of_object.contains('@') || of_object.ends_with("_inline") {
            return None;
        }
        let begins = |with: &[&str]| with.iter().any(|w| of_object.starts_with(w));
        let makes = ["alloc", "strdup", "wcsdup", "reserve", "root"];
        Some(match of_object {
            "tx_begin" => Self::Begin,
            "tx_end" => Self::End,
            "tx_stage" | "tx_process" => Self::Stage,
            "tx_abort" => Self::Abort,
            "tx_free" | "tx_xfree" => Self::Free,
            _ if begins(&["tx_add_", "tx_xadd_"]) => Self::Add,
            _ if makes.iter().any(|part| of_object.contains(part)) => Self::Allocate,
            _ if begins(&["persist", "flush", "xpersist", "xflush", "mem"]) => Self::Persist,
            _ => Self::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_known() {
        assert_eq!(Role::of("pmemobj_tx_begin"), Some(Role::Begin));
        assert_eq!(Role::of("pmemobj_tx_xadd_range_direct"), Some(Role::Add));
        assert_eq!(Role::of("pmemobj_memset_persist"), Some(Role::Persist));
        assert_eq!(Role::of("pmemobj_tx_process"), Some(Role::Stage));
        assert_eq!(Role::of("pmemobj_tx_zalloc"), Some(Role::Allocate));
        assert_eq!(Role::of("pmemobj_tx_strdup"), Some(Role::Allocate));
        assert_eq!(Role::of("pmemobj_root"), Some(Role::Allocate));
        assert_eq!(Role::of("pmemobj_open"), Some(Role::Other));
        assert_eq!(Role::of("pmemobj_tx_begin@plt"), None);
        assert_eq!(Role::of("pmemobj_direct_inline"), None);
        assert_eq!(Role::of("pmem_persist"), None);
    }
}
