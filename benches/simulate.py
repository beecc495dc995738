#!/usr/bin/env python3
"""Data accesses a second of `prestore simulate` on machine A, decoding included, on one core, and its
peak memory for a recording and one four times as long.

Nothing is asserted: the figures are for people to judge.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

PRESTORE = os.environ.get("PRESTORE", "target/release/prestore")
# Name, command for a length, goal of issue and paper in accesses a second.
PROGRAMS = [
    (
        "L1-friendly (fft, rows of 4 KiB)",
        lambda n: ["build/workloads/fft", "--points=256", f"--rows={1000 * n}"],
        15e6,
    ),
    (
        "listing 1, 1 KiB elements of 1 GiB",
        lambda n: [
            "build/workloads/listing1",
            "--elements=1048576",
            f"--iters={100_000 * n}",
        ],
        4e6,
    ),
]


def record(command, folder):
    """Records `command` and answers where."""
    trace = os.path.join(folder, "trace")
    args = [PRESTORE, "record", "--quiet", "--force", "-o", trace, "--", *command]
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return trace


def simulate(trace):
    """Seconds, peak resident kilobytes and results of a simulation pinned to one core."""
    core = sorted(os.sched_getaffinity(0))[-1]
    args = [PRESTORE, "simulate", trace, "--machine", "machine-a", "--format", "json"]
    start = time.perf_counter()
    process = subprocess.Popen(
        args,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    results = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(args)} failed")
    return time.perf_counter() - start, usage.ru_maxrss, results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(f"prestore simulate --machine machine-a, medians of {runs} runs (smallest to largest)")
    for name, command, goal in PROGRAMS:
        peaks = []
        with tempfile.TemporaryDirectory() as folder:
            for length in [1, 4]:
                trace = record(command(length), folder)
                rates, peak = [], 0
                for _ in range(runs):
                    seconds, kilobytes, results = simulate(trace)
                    rates.append(results["accesses"] / seconds / 1e6)
                    peak = max(peak, kilobytes)
                peaks.append(peak)
        print(
            f"  {name}: {statistics.median(rates):.1f} M accesses/s "
            f"({min(rates):.1f} to {max(rates):.1f}; goal {goal / 1e6:.0f}), "
            f"{results['accesses'] / 1e6:.0f} M accesses; "
            f"peak memory {peaks[0] / 1024:.0f} MiB, four times as long {peaks[1] / 1024:.0f} MiB"
        )


if __name__ == "__main__":
    main()
