"""Proofs: goals, seconds and prover of each function, from the logs of proofs/prove; the claims; the trusted base."""
import re, subprocess, sys
from frame import ROOT, bar, esc, missing, number, table, tile

sys.path.insert(0, str(ROOT / "proofs/driver"))
import wp

PROVERS = {"qed": "Qed", "z3": "Z3", "z3-own": "Z3 in its own configuration", "cvc4": "CVC4", "portfolio": "one of Z3 and CVC4"}
GOAL = re.compile(r"^\[wp\] \[([^\]]*)\] Goal (?:typed_)?(\w+) : (\w+)(.*)$")
TIME = re.compile(r"\((?:Qed:)?([\d.]+)(ms|s|min)\)")
ROUND = re.compile(r"^\[wp\] Proved goals:")      # ends one
CACHED = "(cached)"
UNIT = {"ms": 0.001, "s": 1, "min": 60}


class Function:
    def __init__(self):
        self.goals, self.valid, self.seconds, self.by = 0, 0, 0.0, dict.fromkeys(PROVERS, 0)


def function_of(goal, names):
    """Goals are named after their function; of two that fit, the longer one."""
    parts = goal.split("_")
    return next((n for k in range(len(parts), 0, -1) if (n := "_".join(parts[:k])) in names), None)


def read_logs(folder):
    """{module: {function: Function}}, the logs' files, and {module: why its logs do not count}. A function counts with the process that met it
    last. A goal that the first round leaves open is valid if all its parts are, which a later round meets."""
    modules = wp.modules()
    names = {m: wp.module_functions(m, fs) for m, fs in modules.items()}
    goals, logs, wrong = {}, [], {}
    for log in sorted(folder.glob("*.log"), key=lambda f: f.stat().st_mtime):
        module = log.name.split("-")[0]
        text = log.read_text(errors="replace")
        if log.stem.endswith("-smoke") or module not in modules or re.search(r"^\[define\] .", text, re.M):
            continue                    # or of another configuration
        logs.append(log)
        noted = noted_provers(text)
        met = {f for f in re.findall(r"annotating function (\w+)", text) if f in names[module]}
        problem = doubt(text)
        wrong[log.name] = module, problem
        goals = {k: g for k, g in goals.items() if not (k[0] == module and k[1] in met)}     # of an earlier process
        first, later = True, {}
        for line in text.splitlines():
            first = first and not ROUND.match(line)
            m = GOAL.match(line)
            if not m:
                continue
            prover = "qed" if m[1] in ("Qed", "CFG") else "portfolio" if CACHED in m[4] else next(noted, "portfolio")
            if not (f := function_of(m[2], names[module])):
                continue
            seconds = sum(float(t) * UNIT[u] for t, u in TIME.findall(m[4]))
            known, key = (goals, (module, f, m[2])) if first else (later, (module, f, wp.PART.sub("", m[2])))
            valid, before, _ = known.get(key, (True, 0, None))
            known[key] = valid and m[3] == "Valid", before + seconds, prover
        for (_, f, name), (valid, seconds, prover) in later.items():
            met_first = [k for k in goals if k[:2] == (module, f) and wp.PART.sub("", k[2]) == name]
            for k in met_first:
                if not goals[k][0]:
                    goals[k] = valid, goals[k][1] + seconds, prover
    found = {m: {f: Function() for f in fs} for m, fs in names.items()}
    for (module, f, _), (valid, seconds, prover) in goals.items():
        r = found[module][f]
        r.goals += 1
        r.valid += valid
        r.seconds += seconds
        r.by[prover] += valid
    return found, logs, {m: why for m, why in wrong.values() if why}


def noted_provers(text):
    """Who has proven the goals that went to the portfolio, in their order; nobody, if that does not fit the goals."""
    line = re.search(r"^\[provers\](.*)$", text, re.M)
    noted = line[1].split() if line else []
    asked = sum(m[1] not in ("Qed", "CFG") and CACHED not in m[4] for m in map(GOAL.match, text.splitlines()) if m)
    return iter(noted if len(noted) == asked else ())


def doubt(text):
    """Why a log is no proof, whatever its goals say: the process did not end, goals without a line, something assumed or left out."""
    ended = re.search(r"^\[wp\] Proved goals: +\d+ / (\d+)", text, re.M)
    if not ended:
        return "a process did not end"
    named = {m[2] for m in map(GOAL.match, text[:ended.start()].splitlines()) if m}
    if len(named) != int(ended[1]):
        return f"{len(named)} of {ended[1]} goals are told"
    said = re.search(rf"^.*(?:{wp.DOUBTFUL}).*$", text, re.M | re.I)
    return said[0] if said else ""


class Proofs:
    def __init__(self, build):
        self.found, self.logs, self.wrong = read_logs(build / "proofs")
        every = [r for fs in self.found.values() for r in fs.values()]
        self.goals, self.valid = sum(r.goals for r in every), sum(r.valid for r in every)
        self.seconds = sum(r.seconds for r in every)
        self.functions, self.met = len(every), sum(r.goals > 0 for r in every)
        texts = [ROOT / f for fs in wp.modules().values() for f in fs] + list((ROOT / "spec").rglob("*.acsl"))
        self.stale = bool(self.logs) and max(p.stat().st_mtime for p in texts) > min(p.stat().st_mtime for p in self.logs)
        listed = subprocess.run([ROOT / "proofs/coverage"], capture_output=True, text=True).stdout
        self.coverage = [(m[1], int(m[2]), int(m[3])) for m in re.finditer(r"^(\S.*?) +(\d+) +(\d+) +\d+ %$", listed, re.M) if m[1] != "all"]
        self.unasked = re.findall(r"^no proof asked: (\S+) \((.*?)\): (.*)$", listed, re.M)
        self.claims = claims()

    def tile(self):
        note = "SOME PROCESSES WENT WRONG" if self.wrong else f"{number(self.met)} of {number(self.functions)} functions met" if self.met < self.functions else "every function met"
        return tile(f"{number(self.valid)}<small> of {number(self.goals)}</small>" if self.logs else None, "proof goals valid", note, "proofs.html", "make prove")

    def tile_functions(self):
        have, done = sum(r[1] for r in self.coverage), sum(r[2] for r in self.coverage)
        return tile(f"{done}<small> of {have}</small>", "functions under contract", "from the arithmetic to malloc and free; by name, in the sources", "proofs.html#listed")


def claims():
    """The rows of both tables of spec/CLAIMS.md: ([claim, contract], ..), ([what, where, held to by], ..)."""
    parts = (ROOT / "spec/CLAIMS.md").read_text().split("\n## ")
    rows = lambda part: [[c.strip() for c in re.split(r"(?<!\\)\|", l)[1:-1]] for l in part.splitlines() if l.startswith("| ")][1:]
    return rows(next(p for p in parts if p.startswith("Proven"))), rows(next(p for p in parts if p.startswith("Not proven")))


def shown_time(seconds):
    return f"{seconds:.2f}" if seconds < 9.995 else f"{seconds:.0f}"


def page(site, p):
    body = ["<h1>Proofs</h1><p class=lead>Frama-C/WP turns each contract into goals, which are formulas. Qed, its simplifier, decides many of them; "
            "the others go to a portfolio of Z3 and CVC4. A function is proven when every one of its goals is valid.</p>"]
    if p.logs:
        total = {k: sum(r.by[k] for fs in p.found.values() for r in fs.values()) for k in PROVERS}
        body.append(f'<p class=figures><span><b>{number(p.valid)}</b> of {number(p.goals)} goals valid</span><span><b>{number(p.met)}</b> of {number(p.functions)} functions met</span>'
                    f'<span><b>{number(round(p.seconds / 60))}</b> min in Qed and in the provers that succeeded</span></p>')
        parts = "".join(f'<i class="p-{k}" style="flex:{n}"></i>' for k, n in total.items() if n)
        legend = "".join(f'<li><i class="p-{k}"></i>{t}: {number(total[k])}</li>' for k, t in PROVERS.items() if total[k])
        body.append(f'<div class=stack role=img aria-label="goals by prover">{parts}</div><ul class=legend>{legend}</ul>')
        if p.wrong or p.valid < p.goals:
            body.append(f"<p class=missing><strong>{p.goals - p.valid} goals are not valid, and the processes of {len(p.wrong)} modules went wrong.</strong> They are marked below.</p>")
        if p.met < p.functions:
            body.append(f'<p class=missing><strong>{p.functions - p.met} of {p.functions} functions were not met here.</strong> <code>make prove</code> proves all.</p>')
        if p.stale:
            body.append("<p class=missing><strong>A source is newer than some of these results.</strong> <code>make prove</code> makes them anew.</p>")
    else:
        body.append(missing("make prove", "goals, seconds and prover of each function"))
    body.append('<h2>By module</h2><p>Open a module to see its functions. Seconds are those of Qed and of the prover that succeeded.</p>'
                '<label class=find>Find a function <input id=find type=search autocomplete=off></label><div class=modules>')
    for module, fs in sorted(p.found.items()):
        goals, valid, seconds = (sum(getattr(r, k) for r in fs.values()) for k in ("goals", "valid", "seconds"))
        met = sum(r.goals > 0 for r in fs.values())
        state = "absent" if not met else "bad" if valid < goals or module in p.wrong else "part" if met < len(fs) else "good"
        word = {"absent": "not run here", "bad": "NOT PROVEN", "part": f"{met} of {len(fs)} met", "good": "proven"}[state]
        rows = []
        for f, r in fs.items():
            at = site.sources.place(f)
            name = site.source(*at, text=f"<code>{f}</code>") if at else f"<code>{f}</code>"
            by = ", ".join(f"{PROVERS[k]} {n}" for k, n in r.by.items() if n)
            rows.append([name, number(r.valid) if r.goals else "–", number(r.goals) if r.goals else "–", shown_time(r.seconds) if r.goals else "–",
                         by if r.goals == r.valid and r.goals else f"{r.goals - r.valid} NOT VALID" if r.goals else "not run here"])
        figures = f"<span>{number(valid)} of {number(goals)} goals</span><span>{shown_time(seconds)} s</span>" if met else "<span></span><span></span>"
        if module in p.wrong:
            word = f"NOT PROVEN: {esc(p.wrong[module])}"
        body.append(f'<details class="module"><summary><b>{module}</b><span>{len(fs)} functions</span>{figures}<span class="state {state}">{word}</span></summary>'
                    + table(["function", "valid", "goals", "seconds", "prover"], rows, "tnnnw", module) + "</details>")
    body.append('</div><h2 id="listed">Which functions are under contract</h2>')
    body.append(table(["part", "functions", "proven by `make prove`".replace("`", ""), ""], [[esc(n), a, b, bar(b / a)] for n, a, b in p.coverage], "tnn"))
    body.append("<h3>No proof is asked of these</h3>" + table(["file", "why", "functions"], [[site.source(f), esc(w), " ".join(f"<code>{n}</code>" for n in fs.split())] for f, w, fs in p.unasked], "tww"))
    site.page("proofs", "Proofs", "\n".join(body))


def contract_cell(site, text, tally):
    """The contract's column: after functions and a colon stand names of their clauses; each leads to its line."""
    done, current, before = [], [], ""
    for part in re.split(r"(`[^`]+`)", text):
        if part.startswith("`"):
            word = part[1:-1]
            known = site.sources.functions.get(word)
            if word.startswith("_") and before:         # bin_postfork_parent, _child
                stem = before
                while "_" in stem and stem.rsplit("_", 1)[0] + word not in site.sources.functions:
                    stem = stem.rsplit("_", 1)[0]
                known = site.sources.functions.get(stem.rsplit("_", 1)[0] + word)
            if known:
                full = word if not word.startswith("_") else stem.rsplit("_", 1)[0] + word
                before = full
                current.append((full, known))
                tally["functions"] += 1
                done.append(site.source(known[0], known[1], f"<code>{esc(word)}</code>"))
            else:
                if "*" in word and (many := wildcard(site, word)):
                    current += many
                    done.append(site.source(many[0][1][0], text=f"<code>{esc(word)}</code>"))
                else:
                    done.append(relative(site, word, before))
            continue
        pieces = re.split(r"([;(])", part)
        for piece in pieces:
            head, colon, names = piece.partition(":")
            if colon and current:
                done.append(esc(head + colon))

                def link(m):
                    at = next(((k[0], k[2][m[0]]) for _, k in current if m[0] in k[2]), None)
                    tally["clauses"] += at is not None
                    return site.source(*at, text=f"<em>{m[0]}</em>") if at else m[0]
                done.append(re.sub(r"[a-z_][a-z_0-9]*", link, names))
            else:
                done.append(esc(piece))
            if piece == ";" :
                current = []
    return "".join(done)


def wildcard(site, word):
    stem = word.replace("*", r"\w+")
    return [(n, k) for n, k in site.sources.functions.items() if re.fullmatch(stem, n)]


def relative(site, word, before):
    """A file that is named after another one of its folder: `src/tcache/stack.h`, `outside.h`."""
    if re.fullmatch(r"[\w.]+\.(h|c|acsl)", word):
        found = [p for p in site.sources.files if p.endswith("/" + word)]
        if found:
            return site.source(found[0], text=f"<code>{word}</code>")
    return site.code(word)


def claims_page(site, p):
    proven, open_ones = p.claims
    tally = {"functions": 0, "clauses": 0}
    done = "".join(f'<li><p>{site.inline(c)}</p><p class=where>{contract_cell(site, k, tally)}</p></li>' for c, k in proven)
    rest = "".join(f'<li><p>{site.inline(w)}</p><p class=where><span>held to by</span> {site.inline(h)}{" · " if at else ""}{contract_cell(site, at, tally)}</p></li>' for w, at, h in open_ones)
    proved = "" if p.logs and not p.wrong and p.valid == p.goals and p.met == p.functions else missing("make prove", "whether the contracts hold in this tree").replace("Not run here.", "Not run here in full.")
    body = (f'<h1>Claims</h1><p class=lead>What is proven, with the clauses that say it, and beside it what is not. Each name leads to its line in the sources. '
            f'The text is {site.source("spec/CLAIMS.md")}.</p>{proved}<div class=two><section class=proven><h2><span>{len(proven)}</span> Proven</h2><ol class=claims>{done}</ol></section>'
            f'<section class=open><h2><span>{len(open_ones)}</span> Not proven</h2><ol class=claims>{rest}</ol></section></div>')
    site.page("claims", "Claims", body)
    return tally


def trusted_page(site):
    text = (ROOT / "proofs/TRUSTED.md").read_text()
    head, rest = text.split("\n|", 1)
    rows = [[c.strip() for c in re.split(r"(?<!\|)\|(?!\|)", l)[1:-1]] for l in ("|" + rest).splitlines() if l.startswith("| `")]
    lines = []
    for name, at, contract, tested in rows:
        clauses = "".join(f"<li><code>{esc(c)}</code></li>" for c in re.findall(r"`([^`]+)`", contract))
        lines.append(f'<details class=module><summary>{site.inline(name)}<span>{site.inline(at)}</span><span class="state">tested by {site.inline(tested)}</span></summary><ul class=clauses>{clauses}</ul></details>')
    after = rest.split("\n\n", 1)[1]
    intro, *items = re.split(r"\n- ", after)
    items = "".join(f"<li>{site.inline(' '.join(i.split()))}</li>" for i in items)
    body = (f'<h1>Trusted base</h1><p class=lead>What the proofs believe. Everything else follows from it.</p><p>{site.inline(" ".join(head.split(chr(10), 1)[1].split()))}</p>'
            f'<h2>{len(rows)} contracts that are believed</h2>{"".join(lines)}<h2>{esc(" ".join(intro.split()).rstrip(":"))}</h2><ul class=believed>{items}</ul>')
    site.page("trusted", "Trusted base", body)
    return len(rows)
