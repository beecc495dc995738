#!/usr/bin/env python3
"""Runs `stencil` and `kv` natively and under Prestore in turn, and prints medians and ratios.

Every ratio is taken from a pair of runs that followed each other, so that a machine whose speed
drifts does not spoil it. Nothing is asserted: the figures are for people to judge.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

PRESTORE = os.environ.get("PRESTORE", "target/release/prestore")
WORKLOADS = {
    "stencil": ["build/workloads/stencil", "--threads=2", "--n=192", "--steps=4"],
    "kv": ["build/workloads/kv", "--threads=2", "--ops=3000000"],
}
# What the issue and the paper ask for; printed beside ours.
GOALS = {
    ("stencil", "count"): "<= 2.5x",
    ("kv", "count"): "<= 2.5x",
    ("stencil", "functions"): "<= 25x",
    ("kv", "functions"): "<= 10x",
}


def timed(command):
    """Wall seconds, peak resident kilobytes of the largest process, and stderr."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{err}")
    return seconds, usage.ru_maxrss, err


def paired(native, traced, runs):
    """Ratios of traced to native wall time, pair by pair, after one warm-up of each."""
    timed(native), timed(traced)
    ratios, natives, peak = [], [], 0
    for _ in range(runs):
        base, _, _ = timed(native)
        other, kilobytes, _ = timed(traced)
        ratios.append(other / base)
        natives.append(base)
        peak = max(peak, kilobytes)
    return ratios, statistics.median(natives), peak


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def functions_of(workload):
    """The functions that store most, so that the pass over them is measured alone."""
    out = subprocess.run(
        [PRESTORE, "advise", "--quiet", "--scope", "count", "--format", "json", "--"]
        + WORKLOADS[workload],
        capture_output=True, text=True, check=True,
    ).stdout
    report = json.loads(out[out.index("{"):])
    names, total = [], 0.0
    for function in report["functions"]:
        if total >= 0.9 or function["share"] < 0.01:
            break
        total += function["share"]
        if function.get("function"):
            names += ["--function", function["function"]]
    return names


def overheads(workload, runs):
    native = WORKLOADS[workload]
    scopes = {
        "count": ["--scope", "count"],
        "functions": ["--scope", "functions"] + functions_of(workload),
        "all": [],
    }
    for scope, arguments in scopes.items():
        command = [PRESTORE, "advise", "--quiet"] + arguments + ["--"] + native
        ratios, base, peak = paired(native, command, runs)
        goal = GOALS.get((workload, scope), "")
        print(
            f"{workload:8} advise --scope {scope:9} {spread(ratios):>24} x native ({base:.2f} s)"
            f"   peak {peak / 1024:.0f} MB   {goal}"
        )


def recording(workload, runs):
    rates, ratios, sizes, accesses = [], [], [], 0
    folder = tempfile.mkdtemp(prefix="prestore-bench-")
    try:
        for run in range(runs + 1):
            target = os.path.join(folder, "trace")
            base, _, _ = timed(WORKLOADS[workload])
            seconds, _, _ = timed(
                [PRESTORE, "record", "--quiet", "--force", "-o", target, "--"]
                + WORKLOADS[workload]
            )
            with open(os.path.join(target, "manifest.json"), encoding="utf-8") as manifest:
                totals = json.load(manifest)["totals"]
            events = totals["events"]
            accesses = sum(
                n for kind, n in events.items() if re.match("load|store|nt|atomic", kind)
            )
            if run > 0:
                rates.append(accesses / seconds / 1e6)
                ratios.append(seconds / base)
                sizes.append(totals["bytes"] / accesses)
        seconds = [timed([PRESTORE, "advise", target])[0] for _ in range(runs)]
    finally:
        shutil.rmtree(folder)
    print(
        f"{workload:8} record, scope all     {spread(ratios):>24} x native; "
        f"{spread(rates)} M accesses/s   >= 150"
    )
    print(f"{workload:8} bytes an access       {statistics.median(sizes):24.3f}   <= 1.5")
    per_second = [accesses / s / 1e6 for s in seconds]
    print(f"{workload:8} analysis alone        {spread(per_second):>24} M accesses/s   >= 25")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(f"{os.cpu_count()} cores, {runs} runs, median (least to most)")
    for workload in WORKLOADS:
        overheads(workload, runs)
        recording(workload, runs)


if __name__ == "__main__":
    main()
