//! Laying what a file says over what it inherits.

use super::node::{Kind, Node, Table};

/// Lays `over` on `under`: tables key by key, all else replaces. A table of another `kind` replaces
/// too, because its keys mean other things.
pub fn merge(under: Node, over: Node) -> Node {
    match (under.kind, over.kind) {
        (Kind::Table(under_table), Kind::Table(over_table))
            if !over_table.whole && !other_kind(&under_table, &over_table) =>
        {
            Node {
                at: over.at,
                kind: Kind::Table(merge_tables(under_table, over_table)),
            }
        }
        (_, kind) => Node { at: over.at, kind },
    }
}

fn merge_tables(mut under: Table, over: Table) -> Table {
    for (name, node) in over.entries {
        match under.entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = merge(place.clone(), node),
            None => under.entries.push((name, node)),
        }
    }
    under
}

fn other_kind(under: &Table, over: &Table) -> bool {
    let kind = |table: &Table| table.get("kind").and_then(Node::text).map(str::to_owned);
    kind(over).is_some_and(|new| kind(under) != Some(new))
}
