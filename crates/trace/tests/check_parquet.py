"""Checks the exported files in the directory given against docs/trace-format.md."""

import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

out = Path(sys.argv[1])
COLUMNS = {
    "events": [
        ("thread", "uint32"), ("process", "uint32"), ("instr", "uint64"),
        ("kind", "dictionary<values=string, indices=int8, ordered=0>"), ("addr", "uint64"),
        ("size", "uint64"), ("site", "uint32"), ("ticks", "uint64"),
    ],
    "sites": [
        ("site", "uint32"), ("module", "string"), ("offset", "uint64"), ("build_id", "string"),
        ("function", "string"), ("file", "string"), ("line", "uint32"),
    ],
    "threads": [
        ("thread", "uint32"), ("process", "uint32"), ("pid", "uint32"), ("tid", "uint32"),
        ("instructions", "uint64"), ("reads", "uint64"), ("writes", "uint64"),
        ("start_ticks", "uint64"), ("end_ticks", "uint64"),
    ],
}
tables = {}
for name, columns in COLUMNS.items():
    tables[name] = pq.read_table(out / f"{name}.parquet")
    found = [(f.name, str(f.type)) for f in tables[name].schema]
    assert found == columns, (name, found)

events = tables["events"].to_pylist()
STORES = 100_000
assert len(events) == STORES + 4
assert [e["kind"] for e in events[:2]] == ["alloc", "store"]
assert events[0] | {"site": 0} == {
    "thread": 0, "process": 0, "instr": 0, "kind": "alloc", "addr": 0x5000, "size": 800,
    "site": 0, "ticks": 1000,
}
assert (events[STORES]["addr"], events[STORES]["instr"]) == (0x5000 + 8 * (STORES - 1), 2 * (STORES - 1))
load, last, fence = events[-3:]
assert (load["kind"], load["addr"], load["ticks"]) == ("load", 1 << 63, 2000)
assert (last["addr"], last["size"], last["instr"]) == (2**64 - 8, 8, 1)
assert (fence["kind"], fence["addr"], fence["instr"]) == ("fence-full", None, 2)

db = duckdb.connect()
for name in COLUMNS:
    db.execute(f"create view {name} as select * from read_parquet('{out / (name + '.parquet')}')")
rows = db.execute(
    """select kind, function, module, build_id, "offset", line, count(*), sum(e.size)::bigint
       from events e join sites using (site) where kind = 'store' group by all"""
).fetchall()
assert rows == [("store", "main", "/bin/program", "ab", 0x100, 0x100, STORES, 8 * STORES)], rows
rows = db.execute("select * from threads order by thread").fetchall()
assert rows == [
    (0, 0, 100, 101, 2 * STORES, 0, STORES, 5, 1000),
    (1, 0, 100, 102, 4, 2, 0, 2000, 2000),
], rows
assert isinstance(tables["events"].column("kind").chunk(0), pa.DictionaryArray)
print("pyarrow and duckdb agree")
