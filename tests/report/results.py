"""Faults, coverage and speed: what proofs/mutants, fuzz/mutate, fuzz/coverage and tests/bench have left under build/."""
import collections, csv, json, math, re, shutil, statistics, time
import chart
from frame import ROOT, bar, esc, missing, number, table, tile


def rows(path):
    """The rows of a .tsv file with a header, as dicts; none if there is no file."""
    return list(csv.DictReader(path.open(), delimiter="\t", quoting=csv.QUOTE_NONE)) if path.exists() else []


# ---- mutants and planted faults ----------------------------------------------------------------------------------

class Faults:
    def __init__(self, build):
        self.mutants = rows(build / "mutants/mutants.tsv")
        self.killed = sum(m["verdict"] != "survived" for m in self.mutants)
        self.by_proof = sum(m["verdict"] == "proof" for m in self.mutants)
        self.planted = [read_fault(f) for f in sorted((ROOT / "fuzz/mutants").iterdir())]
        for f in self.planted:
            kept = build / "fuzz-mutants" / f"{f['name']}.json"
            f["result"] = json.loads(kept.read_text()) if kept.exists() else None
        self.ran = [f for f in self.planted if f["result"]]
        self.found = [f for f in self.ran if f["result"]["found"]]

    def tile(self):
        share = f"{self.killed}<small> of {len(self.mutants)}</small>" if self.mutants else None
        explained = sum(m["verdict"] == "survived" and m["note"] != "" for m in self.mutants)
        return tile(share, "mutants noticed", f"{self.by_proof} by the proof alone; {explained} need not be, with a reason", "faults.html#mutants", "make mutants")

    def tile_planted(self):
        rest = len(self.planted) - len(self.ran)
        note = f"{rest} of {len(self.planted)} were not searched here" if rest else f"half of them within {statistics.median(f['result']['cpu'] for f in self.found):.1f} s" if self.found else ""
        return tile(f"{len(self.found)}<small> of {len(self.ran)}</small>" if self.ran else None, "planted faults found by fuzzing", note, "faults.html#planted", "make fuzz-mutants")


def read_fault(path):
    head, old, new = re.split(r"\n--- old\n|\n--- new\n?", path.read_text().rstrip("\n"))
    what, *pairs = head.split("\n")
    return {"name": path.name, "what": what, "old": old, "new": new} | dict(p.split(": ", 1) for p in pairs)


def faults_page(site, f):
    body = ["<h1>Faults</h1><p class=lead>A proof or a test that nothing can break says nothing. So faults are put into the code on purpose: "
            "into the proven text, where a goal has to fail, and into the library, where a fuzzer has to find them.</p>",
            '<h2 id="mutants">Mutants of the proven text</h2><p>One operator, constant, argument order or statement is changed. The proof has to fail; only what it lets pass meets the tests.</p>']
    if f.mutants:
        body.append(f'<p class=figures><span><b>{f.killed}</b> of {len(f.mutants)} noticed</span><span><b>{f.by_proof}</b> by the proof alone</span></p>')
        order = {"survived": 0, "fuzz": 1, "test": 1, "proof": 2}
        word = {"proof": "the proof", "test": "unit test", "fuzz": "fuzzer", "survived": "SURVIVED"}
        lines = [[site.source(m["file"], m["line"]), f"<code>{esc(m['function'])}</code>", f"<code>{esc(m['before'])}</code><br><code class=new>{esc(m['after'])}</code>",
                  f'<span class="state {"bad" if m["verdict"] == "survived" and not m["note"] else "part" if m["verdict"] == "survived" else "good"}">{word[m["verdict"]]}</span>', esc(m["note"])]
                 for m in sorted(f.mutants, key=lambda m: (order[m["verdict"]], m["file"], int(m["line"])))]
        body.append(table(["place", "function", "change", "noticed by", "the goal that fails, or why none should"], lines, "ttwtw", "mutants"))
    else:
        body.append(missing("make mutants", "which mutants the proofs notice"))
    known = [l.split("\t") for l in (ROOT / "proofs/data/mutants.tsv").read_text().splitlines() if l and not l.startswith("#")]
    body.append(f"<h3>{len(known)} mutants may survive, each with a reason</h3>" + table(["mutant", "why no contract should notice it"], [[f"<code>{esc(k[1])}</code>", esc(k[-1])] for k in known], "ww"))
    body.append(f'<h2 id="planted">{len(f.planted)} planted faults, and how long the fuzzer takes</h2><p>libFuzzer starts from the committed inputs. A fault counts as found '
                'if the harness stops with a report of its own within 60 s of processor time, and the same search without the fault finds nothing.</p>')
    if f.ran:
        times = sorted(x["result"]["cpu"] for x in f.found)
        body.append(f'<p class=figures><span><b>{len(f.found)}</b> of {len(f.ran)} searched here found</span>' + (f'<span><b>{statistics.median(times):.1f} s</b> half of them</span><span><b>{times[-1]:.1f} s</b> the slowest</span>' if times else "") + "</p>")
        if len(f.ran) < len(f.planted):
            body.append(f"<p class=missing><strong>{len(f.planted) - len(f.ran)} of {len(f.planted)} were not searched here.</strong> <code>make fuzz-mutants</code> searches for all.</p>")
    else:
        body.append(missing("make fuzz-mutants", "how long it takes to find each"))
    width = lambda s: math.log1p(s * 10) / math.log1p(600)

    def result(x):
        r = x["result"]
        return ["–", "not run here"] if not r else [f'{r["cpu"]:.2f}' + bar(width(r["cpu"])), esc(r["said"][:120])] if r["found"] else [f'{r["cpu"]:.0f}', f'<span class="state bad">NOT FOUND</span> {esc(r["said"][:120])}']
    ordered = sorted(f.planted, key=lambda x: (-(x["result"] or {"cpu": -1})["cpu"], x["name"]))
    body.append(table(["fault", "planted in", "harness", "seconds", "what the harness said"],
                      [[f'{esc(x["what"])}<br>{site.source("fuzz/mutants/" + x["name"], text=esc(x["name"]))}', site.source(x["source"]), f"<code>{esc(x['harness'])}</code>", *result(x)] for x in ordered], "wttnw", "planted faults"))
    site.page("faults", "Faults", "\n".join(body))


# ---- coverage ----------------------------------------------------------------------------------------------------

class Coverage:
    def __init__(self, build):
        self.lines, info = {}, build / "coverage/lcov.info"
        file = None
        for l in info.read_text().splitlines() if info.exists() else ():
            if l.startswith("SF:"):
                file = l[3:].split("/src/")[-1]
                file = f"src/{file}" if (ROOT / "src" / file).is_file() else None
            elif l.startswith("DA:") and file:
                n, times = l[3:].split(",")[:2]
                at = self.lines.setdefault(file, {})
                at[int(n)] = at.get(int(n), False) or int(times) > 0
        self.all = sum(map(len, self.lines.values()))
        self.hit = sum(sum(l.values()) for l in self.lines.values())

    def tile(self):
        return tile(f"{100 * self.hit / self.all:.1f}<small> %</small>" if self.all else None, "lines reached by fuzzing", f"{number(self.hit)} of {number(self.all)} lines of src/", "coverage.html", "make fuzz-coverage")


def coverage_page(site, c):
    body = ["<h1>Coverage</h1><p class=lead>The lines of src/ that the fuzzers' inputs reach. Each line that none reaches has a reason.</p>"]
    if c.all:
        body.append(f'<p class=figures><span><b>{100 * c.hit / c.all:.1f} %</b> of the lines reached</span><span><b>{number(c.all - c.hit)}</b> not reached</span></p>')
        folders = collections.defaultdict(list)
        for f, lines in c.lines.items():
            folders[f.split("/")[1]].append((f, sum(lines.values()), len(lines)))
        for folder in [x for x in ("api", "tcache", "blocks", "pages", "ds", "math", "platform") if x in folders]:
            fs = sorted(folders[folder])
            hit, every = sum(x[1] for x in fs), sum(x[2] for x in fs)
            body.append(f'<h2>{folder}/ <small>{100 * hit / every:.1f} %</small></h2>' + table(["file", "reached", "lines", ""], [[site.source(f, text=esc(f)), h, n, bar(h / n)] for f, h, n in fs], "tnn", folder))
    else:
        body.append(missing("make fuzz-coverage", "which lines are reached"))
    reasons = [l.split(None, 3) for l in (ROOT / "fuzz/unreached").read_text().splitlines() if l.strip() and not l.startswith("#")]
    body.append("<h2>Lines that nothing reaches, and why</h2>" + table(["function", "lines at most", "why"], [[site.source(f, text=f"<code>{esc(n)}</code>"), k, site.inline(w)] for f, n, k, w in reasons], "tnw"))
    body.append("<p>Which functions are proven is a coverage too: see <a href='proofs.html#listed'>Proofs</a>.</p>")
    site.page("coverage", "Coverage", "\n".join(body))


# ---- speed -------------------------------------------------------------------------------------------------------

OURS, ALLOCATORS = "qedmalloc", ["qedmalloc", "jemalloc", "mimalloc", "tcmalloc"]


def measured(path, column, scale):
    """{workload: {allocator: value}} of a .tsv that tests/bench/run has written."""
    found = {}
    for r in rows(path):
        if r.get("result") == "ok":
            found.setdefault(r["workload"], {})[r["allocator"]] = float(r[column]) * scale
    return {w: {"glibc": v["glibc"]} | {a: x / v["glibc"] for a, x in v.items() if a != "glibc"} for w, v in found.items() if v.get("glibc")}


def kept(title):
    """The same of the table in tests/bench/README.md."""
    found, lines, inside = {}, (ROOT / "tests/bench/README.md").read_text().splitlines(), False
    for i, l in enumerate(lines):
        if l.startswith(f"{title}: glibc's malloc in"):
            inside = True
        elif inside and l.startswith("```"):
            break
        elif inside and (w := l.split()) and w[0] != "glibc" and len(w) >= 6:
            found[w[0]] = {a: float(x) for a, x in zip(["glibc", *ALLOCATORS], w[1:6]) if x not in ("FAILED", "-")}
    return found


def kept_means(title):
    """The geometric means of the same table, which were made from more digits."""
    for l in (ROOT / "tests/bench/README.md").read_text().splitlines():
        if l.startswith(title + " "):
            return dict(zip(ALLOCATORS, map(float, l[len(title):].split()[:4])))
    return {}


def means(by_workload):
    each = {a: [v[a] for v in by_workload.values() if v.get(a)] for a in ALLOCATORS}
    return {a: math.exp(statistics.fmean(map(math.log, r))) for a, r in each.items() if r}


class Speed:
    def __init__(self, build):
        self.build, self.here = build, None
        for stem, command in (("bench", "make bench"), ("quick", "make bench-quick")):
            path = build / "bench" / f"{stem}.tsv"
            if not self.here and path.exists():
                self.here, self.command, self.when = stem, command, time.strftime("%d %B %Y", time.gmtime(path.stat().st_mtime))
                self.time, self.peak = measured(path, "wall_s", 1), measured(path, "peak_kib", 1 / 1024)
        if not self.here:
            self.time, self.peak = kept("time"), kept("peak memory")
        self.means = {"Time": means(self.time), "Peak memory": means(self.peak)} if self.here else {"Time": kept_means("time"), "Peak memory": kept_means("peak memory")}

    def tile(self):
        m = self.means["Time"].get(OURS)
        where = f"{len(self.time)} workloads, measured here" if self.here else "kept in the tree; not run here: <code>make bench</code>"
        return tile(f"{m:.2f}<small>×</small>" if m else None, "of the time of glibc's malloc", where, "speed.html", "make bench")

    def tile_memory(self):
        m = self.means["Peak memory"].get(OURS)
        where = f"{len(self.peak)} workloads, measured here" if self.here else "kept in the tree; not run here: <code>make bench</code>"
        return tile(f"{m:.2f}<small>×</small>" if m else None, "of its peak memory", where, "speed.html#memory", "make bench")


def speed_table(values, unit):
    line = lambda w, v: [esc(w), f"{v['glibc']:.3f}", *(f"{'<b>' if a == OURS else ''}{v[a]:.2f}{'</b>' if a == OURS else ''}" if a in v else "FAILED" for a in ALLOCATORS)]
    return table(["workload", f"glibc, {unit}", *ALLOCATORS], [line(w, v) for w, v in values.items()], "tnnnnn", f"ratios to glibc's malloc, which has {unit}")


def speed_page(site, s, out):
    body = ["<h1>Speed</h1><p class=lead>Time and peak memory beside glibc's malloc and Debian's jemalloc, mimalloc and tcmalloc. "
            "Every figure is a ratio to glibc's malloc on the same workload: below 1 is faster, or smaller.</p>"]
    body.append(f"<p>Measured here with <code>{s.command}</code>, {s.when}. A ratio is one of medians.</p>" if s.here else
                f'<p class=missing><strong>Not run here.</strong> <code>make bench</code> measures. Below are the figures that are kept in the tree, with the machine that gave them: {site.source("tests/bench/README.md")}.</p>')
    for key, title, values, unit in (("time", "Time", s.time, "seconds"), ("memory", "Peak memory", s.peak, "MiB")):
        m = s.means[title]
        body.append(f'<h2 id="{key}">{title}</h2><p class=figures>' + "".join(f'<span><b class="a-{a}">{x:.2f}</b> {a}</span>' for a, x in m.items()) + "</p><p>Geometric means over "
                    f"{len(values)} workloads.</p>" + chart.dots(values, ALLOCATORS, f"{title}: ratio to glibc's malloc by workload")
                    + f"<details><summary>The same as a table</summary>{speed_table(values, unit)}</details>")
    for name, title, columns in (("start", "Start and end of /bin/true", "tnnnnnnnn"), ("instructions", "Instructions of a malloc and a free", "tnnnnnnnn"),
                                 ("tails", "Nanoseconds of single calls", "tttnnnnt")):
        path, text = s.build / "bench" / f"{name}.tsv", ""
        found = [l.split("\t") for l in path.read_text().splitlines()] if path.exists() else []
        body.append(f"<h2>{title}</h2>" + (table([esc(c) for c in found[0]], [[esc(c) for c in r] for r in found[1:]], columns, title) if found else missing("make bench")))
    body.append("<h2>How the cost grows</h2>")
    groups = [("growth", "make bench-growth", "What an operation costs as something grows."), ("memory", "make bench-memory", "Memory over time.")]
    (out / "figures").mkdir(exist_ok=True)
    for stem, command, what in groups:
        here = sorted((s.build / "bench").glob(f"{stem}-*.png"))
        figures = here or sorted((ROOT / "tests/bench/figures").glob(f"{stem}-*.png"))
        if not here:
            body.append(f"<p class=missing><strong>Not run here.</strong> {what} <code>{command}</code> draws it." + (" Below are the figures that are kept in the tree." if figures else "") + "</p>")
        body.append('<div class=plates>')
        for f in figures:
            shutil.copyfile(f, out / "figures" / f.name)
            body.append(f'<figure><a href="figures/{f.name}"><img src="figures/{f.name}" alt="{esc(f.stem.replace("-", " by "))}, a curve for each allocator" loading=lazy></a><figcaption>{esc(f.stem.replace("-", ": "))}</figcaption></figure>')
        body.append("</div>")
    site.page("speed", "Speed", "\n".join(body))
