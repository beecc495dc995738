#!/usr/bin/env python3
"""What code costs that is large and runs a little: compilers (one a big C++ program), interpreters' start-ups. Beside the engine alone.

Each round runs the program natively, under the engine alone, counted and recorded, one after the other; ratios are
taken within a round, so that a machine whose speed drifts does not spoil them. CPU time of all processes, as others
may share the machine. Nothing is asserted: the figures are for people to judge.
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

PRESTORE = os.environ.get("PRESTORE", "target/release/prestore")
SOURCE = "workloads/kv/requests.c"
# What we mean to take: at most so many times the engine alone.
GOAL = 2.0


def programs(folder):
    """Names and commands; those that are not installed are left out."""
    compiler = subprocess.run(
        ["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True
    ).stdout.strip()
    whole = os.path.join(folder, "whole.i")
    subprocess.run(["gcc", "-Iinclude", "-E", SOURCE, "-o", whole], check=True)
    all_of_them = {
        "cc1 -O2": [compiler, "-O2", "-quiet", whole, "-o", "/dev/null"],
        "clang -O1, C++": ["clang", "-O1", "-Iinclude", "-c", SOURCE, "-o", os.path.join(folder, "whole.o")],
        "python3, json": ["python3", "-c", "import json, re, argparse, decimal"],
        "perl, POSIX": ["perl", "-e", "use POSIX; use Data::Dumper; print Dumper([1..9])"],
    }
    return {name: words for name, words in all_of_them.items() if shutil.which(words[0])}


def cpu_seconds(command, environment=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def engine_alone(command, more=""):
    """The engine's command line, and its environment: without a client, with its defaults and `more` options."""
    told = subprocess.run([PRESTORE, "doctor"], capture_output=True, text=True, check=False).stdout
    place = re.search(r"DynamoRIO \S+ at (\S+)", told)
    if place is None:
        raise SystemExit("`prestore doctor` does not say where the engine is")
    environment = dict(
        os.environ,
        DYNAMORIO_EXE_PATH=shutil.which(command[0]),
        DYNAMORIO_RUNUNDER="2",
        DYNAMORIO_OPTIONS=f"-code_api -max_bb_instrs 128 {more}",
    )
    return [os.path.join(place.group(1), "libdynamorio.so")] + command[1:], environment


def spread(values):
    return f"{statistics.median(values):6.2f} ({min(values):.2f} to {max(values):.2f})"


def measure(name, command, folder, runs):
    trace = os.path.join(folder, "trace")
    ways = {
        "engine alone": engine_alone(command),
        # As it is used here: joining blocks to traces is half of what it costs such code.
        "no traces": engine_alone(command, "-disable_traces"),
        "count": ([PRESTORE, "advise", "-q", "--scope", "count", "--"] + command, None),
        "record": ([PRESTORE, "record", "-q", "--force", "-o", trace, "--"] + command, None),
        "advise": ([PRESTORE, "advise", "-q", "--"] + command, None),
        "advise, all": ([PRESTORE, "advise", "-q", "--budget", "all", "--"] + command, None),
    }
    seconds = {way: [] for way in ways}
    native = []
    for run in range(runs + 1):
        took = {way: cpu_seconds(*how) for way, how in ways.items()}
        base = cpu_seconds(command)
        if run > 0:
            native.append(base)
            for way in ways:
                seconds[way].append(took[way])
    print(f"{name}: native {statistics.median(native):.3f} s of CPU time")
    for way in ways:
        by_native = [s / max(n, 0.001) for s, n in zip(seconds[way], native)]
        by_engine = [s / e for s, e in zip(seconds[way], seconds["engine alone"])]
        goal = f"   <= {GOAL}" if way in ("count", "record") else ""
        print(f"  {way:13} {spread(by_native):>26} x native   {spread(by_engine):>22} x engine{goal}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    folder = tempfile.mkdtemp(prefix="prestore-bench-")
    try:
        for name, command in programs(folder).items():
            measure(name, command, folder, runs)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
