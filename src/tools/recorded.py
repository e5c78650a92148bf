"""Traces of real programs: recorded once into BUILD/traces, and replayed on an allocator."""
import os, shutil, subprocess, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests"))
from programs import LIMIT_SECONDS, OURS, Run, programs

# Program of tests/programs.py, and which of its processes counts.
RECORDED = {"redis": "redis-server", "python3": "python3", "cc1": "cc1"}
STARTED_BY = {"cc1": "gcc"}


def folder(build):
    out = Path(build).resolve() / "traces"
    (out / "work").mkdir(parents=True, exist_ok=True)
    return out


def record(build, name):
    """The trace of that name, recorded now if it is not there yet: the largest of the process's files."""
    out = folder(build)
    trace, files = out / f"{name}.trace", out / "files"
    if trace.exists():
        return trace
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir()
    settings = {"LD_PRELOAD": Path(build).resolve() / "libqedmalloc-record.so", "QED_RECORD": f"{files}/%n"}
    r = programs(out / "work")[STARTED_BY.get(name, name)](settings, out / "work", name)
    found = sorted(files.glob(f"{RECORDED[name]}*"), key=lambda f: f.stat().st_size)
    if r.status or not found:
        raise RuntimeError(f"{name} was not recorded: status {r.status}: {r.stderr[-300:]}")
    found[-1].rename(trace)
    shutil.rmtree(files)
    return trace


def replay(build, trace, settings, *options):
    """The figures that qed-replay prints, by name."""
    environment = {k: v for k, v in os.environ.items() if k not in OURS} | settings
    r = subprocess.run([Path(build).resolve() / "qed-replay", *options, trace], env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if r.returncode or "cannot be preloaded" in r.stderr:
        raise RuntimeError(f"status {r.returncode}: {r.stderr.strip()[-300:]}")
    return dict(line.split(maxsplit=1) for line in r.stdout.splitlines())


def workload(build, name):
    """A function as in programs.py. Time, memory and faults are those of the calls, without loading the trace."""
    def run(settings, _work, _tag):
        f = replay(build, record(build, name), settings)
        return Run(0, f["calls"], "", float(f["seconds"]), float(f["cpu_seconds"]), int(f["resident_peak_bytes"]) // 1024, int(f["page_faults"]))
    return run
