#!/usr/bin/env python3
"""What each verb costs on programs of unlike kinds, short and long, beside what it is meant to cost, and what peers take.

Each round runs the program natively, counted, recorded and advised, one after the other; ratios of wall time are taken
within a round, so that a machine whose speed drifts does not spoil them. Below each program stands where the time of `advise`
goes, in seconds of CPU: the program with the client in it; the thread that takes over, decodes and looks at code; the thread
that looks at memory. Nothing is asserted: the figures are for people to judge, and `MISSED` says what is dearer than it is
meant to be.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

import peers

PRESTORE = os.environ.get("PRESTORE", "target/release/prestore")
# At most so many times native: numeric kernels, and irregular programs.
GOALS = {
    "numeric": {"count": 1.5, "record": 10, "advise": 20},
    "irregular": {"count": 1.5, "record": 20, "advise": 25},
}
# At least so many accesses a second of a simulation on machine-a, on one core.
SIMULATED = 15e6
ALL = {"count": ["advise", "--scope", "count"], "record": ["record", "--force"], "advise": ["advise"]}
# A name and kind, the program and its arguments, and the argument that makes it long: of a short and a long run.
PROGRAMS = [
    ("multigrid sweeps", "numeric", "stencil --threads=2 --n=128", "steps", (8, 160)),
    ("Fourier transforms", "numeric", "fft --points=1024", "rows", (8000, 200000)),
    ("conjugate gradients", "numeric", "sparse --threads=2 --rows=100000", "iters", (8, 200)),
    ("tridiagonal lines", "numeric", "lines --threads=2 --n=128", "steps", (6, 150)),
    ("bucket sort", "irregular", "buckets --threads=2", "keys", (12000000, 300000000)),
    ("random histogram", "irregular", "rank --keys=4194304", "iters", (3, 60)),
    ("hash table", "irregular", "kv --threads=2", "ops", (600000, 15000000)),
    ("trie", "irregular", "trie --threads=2", "ops", (400000, 10000000)),
    ("interpreter", "irregular", "perl", None, (1500000, 40000000)),
]
SCRIPT = "my %h; for my $i (1..$ARGV[0]) { $h{$i * 7919 % 4093} .= chr($i % 26) if $i % 3; } print scalar keys %h"


def command(words, option, value):
    if option is None:
        return [words, "-e", SCRIPT, str(value)]
    name, *arguments = words.split()
    return [f"build/workloads/{name}", *arguments, f"--{option}={value}"]


def seconds(words, environment=None):
    """Wall time."""
    start = time.perf_counter()
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


class Threads(threading.Thread):
    """CPU seconds of a process's own threads by name, looked at until it ends."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.done, self.ticks = pid, threading.Event(), {}

    def run(self):
        while not self.done.wait(0.02):
            folder = f"/proc/{self.pid}/task"
            try:
                for task in os.listdir(folder):
                    with open(f"{folder}/{task}/stat", encoding="utf-8") as stat:
                        _, name, rest = re.split(r"\((.*)\) ", stat.read(), maxsplit=1)
                    fields = rest.split()
                    self.ticks[task] = (name, int(fields[11]) + int(fields[12]))
            except OSError:
                continue

    def by_name(self, name):
        hertz = os.sysconf("SC_CLK_TCK")
        return sum(ticks for of, ticks in self.ticks.values() if of == name) / hertz


def parts(program):
    """CPU seconds of `advise`: the program with its client, the front, the back."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [PRESTORE, "advise", "--quiet", "--", *program],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    threads = Threads(process.pid)
    threads.start()
    process.wait()
    threads.done.set()
    threads.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # The kernel keeps so much of a name.
    front, back = threads.by_name(os.path.basename(PRESTORE)[:15]), threads.by_name("memory")
    return whole - front - back, front, back


def start_up(words, runs):
    """Wall seconds that a program which does nothing takes more than natively."""
    return statistics.median(seconds([*words, "--", "true"]) - seconds(["true"]) for _ in range(runs))


def accesses(trace):
    with open(os.path.join(trace, "manifest.json"), encoding="utf-8") as manifest:
        totals = json.load(manifest)["totals"]
    kinds = totals["events"].items()
    return sum(n for kind, n in kinds if re.match("load|store|nt|atomic", kind)), totals["bytes"]


def judged(value, goal, better):
    text = f"{value:.1f}"
    return text if better(value, goal) else f"{text} MISSED"


def measure(name, kind, program, runs, simulates, start):
    goals = GOALS[kind]
    with tempfile.TemporaryDirectory(prefix="prestore-bench-") as folder:
        trace = os.path.join(folder, "trace")
        verbs = {verb: [PRESTORE, *words, "--quiet"] for verb, words in ALL.items()}
        verbs["record"] += ["-o", trace]
        natives, ratios = [], {verb: [] for verb in verbs}
        for run in range(runs):
            native = seconds(program)
            natives.append(native)
            for verb, words in verbs.items():
                beyond = seconds([*words, "--", *program]) - (start if verb == "count" else 0)
                ratios[verb].append(beyond / native)
        native = statistics.median(natives)
        count, size = accesses(trace)
        of_each = f"{count / 1e6:.0f} M accesses, {size / count:.3f} B recorded for each"
        print(f"{name} ({kind}), {native:.2f} s natively, {of_each}")
        for verb, factors in ratios.items():
            median = judged(statistics.median(factors), goals[verb], lambda a, b: a <= b)
            rate = count / (native * statistics.median(factors)) / 1e6
            print(
                f"    {verb:8} {median:>14} x native ({min(factors):.1f} to {max(factors):.1f}; meant: {goals[verb]})"
                f"   {rate:6.0f} M accesses/s"
            )
        client, front, back = parts(program)
        print(f"    advise, CPU seconds: program with client {client:.2f}, front {front:.2f}, memory {back:.2f}")
        if simulates:
            took = seconds([PRESTORE, "simulate", trace, "--machine", "machine-a", "--quiet"])
            rate = judged(count / took / 1e6, SIMULATED / 1e6, lambda a, b: a >= b)
            print(f"    simulate {rate:>14} M accesses/s (meant: {SIMULATED / 1e6:.0f})")
            for peer in peers.beside(program, native, count):
                print(f"    {peer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--long", action="store_true", help="runs of some 5 s as well")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    given = parser.parse_args()
    start = start_up([PRESTORE, *ALL["count"], "--quiet"], given.runs)
    print(f"{os.cpu_count()} cores, {given.runs} runs, medians (least to most); {start:.2f} s to start counting")
    for name, kind, words, option, (short, long) in PROGRAMS:
        if given.only not in name:
            continue
        if option is None and not shutil.which(words):
            print(f"{name}: SKIPPED, {words} is not installed")
            continue
        measure(name, kind, command(words, option, short), given.runs, True, start)
        if given.long:
            measure(f"{name}, long", kind, command(words, option, long), 1, False, start)


if __name__ == "__main__":
    main()
