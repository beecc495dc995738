"""What others' tracers and cache simulators take for the same program.

The engine's own tracer and simulator (drmemtrace) are not among the sources that the build brings along: a DynamoRIO whose
`drrun` is on the path, or in `$DYNAMORIO_HOME/bin64`, is measured.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

# Seconds after which a peer is not waited for any longer.
PATIENCE = 300


def drrun():
    home = os.environ.get("DYNAMORIO_HOME")
    return shutil.which(os.path.join(home, "bin64", "drrun") if home else "drrun")


def commands(program, folder):
    """Name and command of each peer that is installed; what one records goes to `folder`."""
    if shutil.which("valgrind"):
        options = ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
        yield "cachegrind", ["valgrind", *options, *program]
    tool = drrun()
    if tool:
        trace = [tool, "-t", "drmemtrace"]
        yield "drmemtrace, recorded", [*trace, "-offline", "-outdir", folder, "--", *program]
        yield "drmemtrace, simulated", [*trace, "--", *program]


def size_of(folder):
    """Bytes of all files in it."""
    files = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    return sum(os.path.getsize(file) for file in files)


def patiently(command):
    """Tells of native seconds how many times as long it took; it is ended with all its processes when that is too long."""
    start = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **quiet)
    try:
        code = process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return lambda native: f"more than {PATIENCE / native:.0f}"
    took = time.perf_counter() - start
    failed = f"failed with {code} after " if code else ""
    return lambda native: f"{failed}{took / native:.1f}"


def beside(program, native, count):
    """A line for each peer: its time by the program's own, `native` seconds; bytes for each of `count` accesses."""
    for name, installed in (("valgrind", shutil.which("valgrind")), ("drrun", drrun())):
        if not installed:
            yield f"{name}: SKIPPED, not installed"
    with tempfile.TemporaryDirectory(prefix="prestore-bench-") as folder:
        for name, command in commands(program, folder):
            took = patiently(command)
            size = size_of(folder)
            recorded = f", {size / count:.2f} B for each access" if size else ""
            yield f"{name} {took(native)} x native{recorded}"
            shutil.rmtree(folder)
            os.mkdir(folder)
