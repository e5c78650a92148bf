"""What the benchmarks share: the allocators, building and running in turn, means, tables, plots."""
import glob, math, statistics, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))      # tests/programs.py

OURS = "qedmalloc"
PEERS = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2.0", "tcmalloc": "libtcmalloc_minimal.so.4"}   # Debian's
COLOURS = {"glibc": "#888888", OURS: "#d62728", "jemalloc": "#1f77b4", "mimalloc": "#2ca02c", "tcmalloc": "#ff7f0e", "no allocator": "#000000"}


def allocators(build):
    """Name to environment variables, glibc's malloc first. A library that is missing ends the run: nothing is left out silently."""
    chosen = {"glibc": {}, OURS: {"LD_PRELOAD": str(Path(build).resolve() / "libqedmalloc.so")}}
    for name, file in PEERS.items():
        found = glob.glob(f"/usr/lib/*-linux-gnu*/{file}")
        if not found:
            sys.exit(f"{file} is not installed (ci/setup bench installs it)")
        chosen[name] = {"LD_PRELOAD": found[0]}
    return chosen


def folder(build):
    """build/bench, and in it a place to run in."""
    out = Path(build).resolve() / "bench"
    (out / "work").mkdir(parents=True, exist_ok=True)
    return out


def compiled(source, out, *flags):
    """The program made of a C source."""
    program = out / source.stem
    subprocess.run(["gcc", "-O2", "-g", "-fno-builtin", "-pthread", "-Wall", "-Wextra", source, *flags, "-o", program], check=True)
    return program


def in_turn(items, turn):
    """All items, another one first each turn: none always runs after the same neighbour."""
    items = list(items)
    first = turn % len(items)
    return items[first:] + items[:first]


def failure(status, stderr):
    """Why a run does not count, or None. The loader only complains about a library that it cannot load."""
    if status:
        return f"exit status {status}: {stderr.strip()[-300:]}" if stderr.strip() else f"exit status {status}"
    if "cannot be preloaded" in stderr:
        return stderr.strip().splitlines()[0]
    return None


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios)) if ratios else math.nan


def table(title, columns, rows):
    """Prints rows of strings, the first column to the left, the others to the right."""
    width = [max(len(r[i]) for r in [columns, *rows]) for i in range(len(columns))]
    print(f"\n{title}")
    for row in [columns, *rows]:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width))).rstrip())
    sys.stdout.flush()


def save(path, columns, rows):
    """A TSV file."""
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in [columns, *rows]))


def plot(png, size, commands):
    """A PNG by gnuplot."""
    script = f'set terminal pngcairo size {size} font "sans,10" background "white"\nset output "{png}"\nset grid y\n{commands}\n'
    png.with_suffix(".gp").write_text(script)
    subprocess.run(["gnuplot", png.with_suffix(".gp")], check=True)
