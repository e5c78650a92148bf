"""What a run of a workload costs, for the benchmarks that measure whole workloads: those of workloads.c and shapes.c, real programs,
and recorded traces."""
import collections, hashlib, subprocess, sys

from allocators import HERE, compiled, failure
from programs import command, programs
sys.path.insert(0, str(HERE.parent.parent / "src" / "tools"))
import recorded

PROGRAMS = ("python3", "lua5.4", "sqlite3", "gs", "perl", "gcc", "g++", "clang++", "zstd", "z3", "redis")
MEASURES = {"wall": "time", "cpu": "CPU time", "peak": "peak memory", "faults": "page faults"}
Cost = collections.namedtuple("Cost", MEASURES)      # seconds, seconds, KiB, count


def workloads(build, out, scale):
    """Name to a function of (settings, work, tag), as in programs.py."""
    built = [str(compiled(HERE / "workloads.c", out)), str(compiled(HERE / "shapes.c", out, "-lstdc++"))]
    listed = {p: subprocess.run([p], capture_output=True, text=True, check=True).stdout.split() for p in built}
    real = programs(out / "work")
    traces = {f"trace-{n}": recorded.workload(build, n) for n in recorded.RECORDED}
    return {n: command([p, n, str(scale)]) for p, names in listed.items() for n in names} | {n: real[n] for n in PROGRAMS} | traces


def sample(run, settings, work, tag):
    """One run: its cost, its problem or None, and a digest of its output."""
    try:
        r = run(settings, work, tag)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return Cost(0, 0, 0, 0), f"{type(error).__name__}: {error}", None
    return Cost(r.seconds, r.cpu_seconds, r.peak_kib, r.faults), failure(r.status, r.stderr), hashlib.sha256(repr(r.output).encode()).hexdigest()


def paired(taken, a, b, measure_name):
    """Ratios of a's costs to b's, turn by turn, in order."""
    return sorted(getattr(x, measure_name) / max(getattr(y, measure_name), 1e-9) for x, y in zip(taken[a], taken[b]))
