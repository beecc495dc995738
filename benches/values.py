#!/usr/bin/env python3
"""What values cost: time of a recording with and without them, and bytes of the recording a store.

usage: benches/values.py PRESTORE WORKLOADS [RUNS]
"""
import json
import subprocess
import sys
import tempfile
import time

PROGRAMS = [
    ["kv", "--keys=4K", "--ops=300000", "--spare-mb=0"],
    ["stencil", "--n=48", "--steps=6"],
    ["fft", "--rows=200"],
    ["trie", "--keys=4K", "--ops=20000"],
    ["rank", "--keys=300K", "--max-key=1M"],
]


def best(command, runs):
    times = []
    for _ in range(runs):
        begun = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - begun)
    return min(times)


def stores(folder):
    with open(f"{folder}/manifest.json") as file:
        totals = json.load(file)["totals"]
    events = totals["events"]
    return totals["bytes"], sum(events.get(kind, 0) for kind in ("store", "nt-store", "atomic-rmw"))


def main():
    prestore, workloads = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    print("program      stores   recorded: s  B/store   with values: s  B/store   ns/store more")
    for name, *args in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            rows = []
            for extra in ([], ["--values"]):
                command = [prestore, "record", "-q", "--force", *extra, "-o", f"{folder}/trace", "--"]
                seconds = best([*command, f"{workloads}/{name}", *args], runs)
                rows.append((seconds, *stores(f"{folder}/trace")))
            (plain, plain_bytes, n), (valued, valued_bytes, _) = rows
            print(
                f"{name:<10} {n:>8} {plain:>13.2f} {plain_bytes / n:>8.2f} {valued:>16.2f} "
                f"{valued_bytes / n:>8.2f} {(valued - plain) / n * 1e9:>15.0f}"
            )


if __name__ == "__main__":
    main()
