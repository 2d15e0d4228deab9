"""Measure CPU seconds (best of three, each a mean if calls are short) and the peak memory of a separate process."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_AT_LEAST = 0.2  # seconds that one measurement takes


def cpu_seconds(job: Callable[[], Any], best_of: int = 3, clock: Callable[[], float] = time.process_time) -> float:
    """Measure the CPU time of one call: the smallest of several, because other work on the machine only adds to it.

    A single interruption would dominate a call of a few milliseconds. A measurement is therefore the mean of as
    many calls as fill a fifth of a second; a job that takes longer is called once.
    """
    best = float("inf")
    for _ in range(best_of):
        calls, start, taken = 0, clock(), 0.0
        while not calls or taken < _AT_LEAST:
            job()
            calls, taken = calls + 1, clock() - start
        best = min(best, taken / calls)
    return best


def wall_seconds(job: Callable[[], Any], best_of: int = 3) -> float:
    """Measure the wall-clock time of one call."""
    return cpu_seconds(job, best_of, time.perf_counter)


def ratio(job: Callable[[], Any], peer: Callable[[], Any], best_of: int = 3) -> tuple[float, float]:
    """Measure the CPU seconds of a job and of its peer, alternately so that both run under the same conditions.

    Both are measured alike: a fifth of a second of the one, a fifth of a second of the other, and so on; of each the
    best counts.
    """
    times = [(cpu_seconds(job, 1), cpu_seconds(peer, 1)) for _ in range(best_of)]
    return min(t for t, _ in times), min(t for _, t in times)


def peak_memory(function: str, **arguments: Any) -> float:
    """Measure the peak memory in MB of a new process that calls ``"module:function"`` once, imports included."""
    return cost(function, **arguments)[2]


def cost(function: str, **arguments: Any) -> tuple[float, float, float]:
    """Measure CPU seconds, wall-clock seconds and peak memory of one call in a new process."""
    command = [sys.executable, "-m", "benchmarks.measure", function, json.dumps(arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"{function}({arguments}) failed in its own process:\n{done.stderr}")
    cpu, wall, peak = done.stdout.splitlines()[-1].split()
    return float(cpu), float(wall), float(peak)


def _own_peak() -> float:
    # getrusage also counts what the parent held before exec; Linux has the process's own peak in /proc.
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    job = getattr(import_module(module), name)
    begun, started = time.process_time(), time.perf_counter()
    job(**json.loads(sys.argv[2]))
    print(time.process_time() - begun, time.perf_counter() - started, _own_peak())
