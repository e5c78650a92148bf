"""The heap map: samples of heapmap as a script that the page loads. Addresses lose their gaps; a sample has what changed since the last."""
import json, re, subprocess, sys
import chart
from frame import ROOT, esc, missing

sys.path.insert(0, str(ROOT / "src/tools"))
sys.path.insert(0, str(ROOT / "tests"))
SAMPLES = 160
PAGE = 4096
ACTIVE, BUSY, DIRTY, MUZZY, RETAINED = 1, 2, 3, 4, 5        # the kinds of enum extent_state, in its order
SHOWN = {RETAINED: 1, MUZZY: 2, DIRTY: 3, BUSY: 3}          # of what is free; 4: slab, 5: large block
FIGURES = ("call", "ms", "asked", "allocated", "cached", "active", "dirty", "muzzy", "retained", "metadata")
TITLES = {"redis": "redis-server under redis-benchmark", "python3": "python3 at work", "cc1": "gcc -O2, 600 functions"}


class Disagree(Exception):
    pass


def read(lines):
    """(program, classes, samples); a sample is (figures, extents by address)."""
    program, classes, samples = "", [], []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "extent":
            samples[-1][1].append(tuple(map(int, rest.split())))
        elif kind == "sample":
            samples.append((dict(zip(FIGURES, map(int, rest.split()))), []))
        elif kind == "class":
            classes.append(list(map(int, rest.split()))[1:])
        elif kind == "program":
            program = rest
    for figures, extents in samples:
        extents.sort()
        agree(figures, extents)
    return program, classes, samples


def agree(figures, extents):
    """The extents do not overlap, and per state they add up to what the library's statistics say."""
    for a, b in zip(extents, extents[1:]):
        if a[0] + a[1] > b[0]:
            raise Disagree(f"extents overlap at page {b[0]}, call {figures['call']}")
    pages = lambda *states: sum(e[1] for e in extents if e[2] in states) * PAGE
    for name, states in (("active", (ACTIVE,)), ("dirty", (DIRTY, BUSY)), ("muzzy", (MUZZY,)), ("retained", (RETAINED,))):
        if pages(*states) != figures[name]:
            raise Disagree(f"{name} pages of the extents are {pages(*states)} bytes, the statistics say {figures[name]}, call {figures['call']}")


def areas(samples):
    """Runs of pages that were ever mapped: [first page, pages]."""
    runs = []
    for page, npages in sorted({(e[0], e[1]) for _, extents in samples for e in extents}):
        if runs and page <= runs[-1][0] + runs[-1][1]:
            runs[-1][1] = max(runs[-1][1], page + npages - runs[-1][0])
        else:
            runs.append([page, npages])
    return runs


def packed(program, classes, samples, title):
    runs, cells, cell = areas(samples), {}, 0
    starts = []
    for page, npages in runs:
        starts.append((page, npages, cell))
        cell += npages

    def place(page):
        return next(c + page - first for first, n, c in starts if first <= page < first + n)
    before, changes = {}, []
    for _, extents in samples:
        now = {}
        for page, npages, state, kind, szind, live, out in extents:
            at = cells.get(page)
            if at is None:
                at = cells[page] = place(page)
            now[at] = (npages, 4, szind, live, out) if kind == 1 else (npages, 5, 0, live, out) if kind == 2 else (npages, SHOWN[state], 0, 0, 0)
        flat = [x for at in before if at not in now for x in (at, 0, 0, 0, 0, 0)]
        flat += [x for at, e in now.items() if before.get(at) != e for x in (at, *e)]
        changes.append(flat)
        before = now
    return {"title": title, "program": program, "page": PAGE, "cells": cell, "areas": runs, "classes": classes, "figures": FIGURES,
            "samples": [[f[k] for k in FIGURES] for f, _ in samples], "changes": changes}


def traces(build):
    """The recorded traces by name; that of redis is recorded now if the programs for it are there."""
    import recorded
    found = {}
    for name in recorded.RECORDED:
        path = build / "traces" / f"{name}.trace"
        if not path.exists() and name == "redis" and (build / "libqedmalloc-record.so").exists():
            try:
                print("recording redis-server under redis-benchmark", flush=True)
                recorded.record(build, name)
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                print(f"not recorded: {error}", flush=True)
        if path.exists():
            found[name] = path
    return found


class Heap:
    def __init__(self, build, out):
        self.maps, self.samples, self.failed = {}, {}, []
        program = build / "heapmap"
        for name, path in traces(build).items() if program.exists() else ():
            r = subprocess.run([program, path, str(SAMPLES)], capture_output=True, text=True)
            if r.returncode:
                self.failed.append(f"{name}: {r.stderr.strip()[-200:]}")
                continue
            data = packed(*(parsed := read(r.stdout.splitlines())), TITLES[name])
            self.samples[name] = [f for f, _ in parsed[2]]
            (out / f"heap-{name}.js").write_text(f"HEAP.push({json.dumps(data, separators=(',', ':'))})\n")
            self.maps[name] = data


SERIES = [("live blocks", "s-live", lambda f: f["allocated"]), ("in thread caches", "s-cached", lambda f: f["cached"]),
          ("rest of active pages", "s-rest", lambda f: f["active"] - f["allocated"] - f["cached"]), ("dirty", "s-dirty", lambda f: f["dirty"]),
          ("muzzy", "s-muzzy", lambda f: f["muzzy"]), ("retained", "s-retained", lambda f: f["retained"])]
LEGEND = "<ul class=legend>" + "".join(f'<li><i class="{k}"></i>{n}</li>' for n, k, _ in SERIES) + "</ul>"


def overview(heap):
    for name, figures in heap.samples.items():
        return (f'<section class=wide><h2>A heap over time: {esc(TITLES[name])}</h2><a href="heap.html">{chart.area(figures, SERIES, "memory by state over the calls of the trace")}</a>{LEGEND}'
                f'<p>{figures[-1]["call"]:,} recorded calls, made again on the library. <a href="heap.html">The heap map</a> shows each page at each of {len(figures)} moments.</p></section>')
    return '<section class=wide><h2>A heap over time</h2>' + missing("make traces", "the recorded trace of redis, and its heap map") + "</section>"


def page(site, heap):
    body = ["<h1>Heap map</h1><p class=lead>Every page of a real program's heap, as time goes by. The program's calls were recorded, and are made again on the library, "
            "whose clock shows the time of the recording. Each cell is a page of 4 KiB; addresses that were never mapped are left out.</p>"]
    body += [f"<p class=missing><strong>Failed.</strong> {esc(f)}</p>" for f in heap.failed]
    if not heap.maps:
        body.append(missing("make traces", "the traces of redis, python3 and a compiler, and so their heap maps"))
        return site.page("heap", "Heap map", "\n".join(body))
    choices = "".join(f'<button type=button data-map="{i}"{" aria-pressed=true" if i == 0 else " aria-pressed=false"}>{esc(TITLES[n])}</button>' for i, n in enumerate(heap.maps))
    charts = "".join(f'<div class=over data-map="{i}"{"" if i == 0 else " hidden"}>{chart.area(s, SERIES, "memory by state over the calls")}</div>' for i, s in enumerate(heap.samples.values()))
    body.append(f"""<div class=choose role=group aria-label="trace">{choices}</div>{charts}{LEGEND}
<div class=player><button id=play type=button>Play</button><input id=when type=range min=0 max=0 value=0 aria-label="moment of the trace"><output id=moment></output></div>
<canvas id=map tabindex=0 role=img aria-label="map of the heap: a cell for each page. Arrow keys go from extent to extent."></canvas>
<ul class="legend keys"><li>slab, by the share of its regions that the program has: <span class=ramp></span> empty to full</li><li><i class=k-large></i>large block</li><li><i class=k-dirty></i>dirty</li>
<li><i class=k-muzzy></i>muzzy</li><li><i class=k-retained></i>retained</li><li><i class=k-none></i>not mapped at this moment</li></ul>
<p id=here class=told aria-live=polite>Point at a page, touch it, or use the arrow keys on the map.</p>
<dl id=figures class=figures></dl>
<h2>Slabs by size class, at this moment</h2><div id=classes></div>
<h2>How it is made</h2><p>{site.source("tests/report/heapmap.c")} makes all calls in one thread, in recorded order, and reads the page cache's own table of extents. The report is not made unless
the extents lie apart, and add up in each state to what the library's statistics say. A region is live while the program has it; out means that it has left its slab, so out less live is in the thread's cache.
The more of a slab's regions are live, the stronger its colour.</p><noscript><p class=missing>The map needs JavaScript.</p></noscript><script>var HEAP = []</script>""")
    body += [f'<script src="heap-{n}.js"></script>' for n in heap.maps] + ['<script src="heap.js"></script>']
    site.page("heap", "Heap map", "\n".join(body))
