"""How firmly goals are proven: each prover alone, and where Z3 is the only one, Z3 with other random seeds.

What is found of a function is kept in build/robust by what the provers read; an interrupted run continues.
"""
import concurrent.futures, hashlib, json, re, shutil, sys, time
import wp
from wp import ROOT

OUT = ROOT / "build" / "robust"
TIMEOUT = 10            # seconds for a goal
SEEDS = (7, 1234)       # instead of 42
VALID = re.compile(r"^\[wp\] \[(?:Z3|CVC4)[^\]]*\] Goal (\S+) : Valid(.*)$")
LEVELS = ("neither", "seed", "CVC4 alone", "Z3 alone", "slow")      # worst first
MEANING = {"neither": f"no prover within {TIMEOUT} s", "seed": "Z3 alone, and not with every seed", "CVC4 alone": "CVC4 alone",
           "Z3 alone": "Z3 alone, with every seed", "slow": f"the faster prover takes more than {TIMEOUT // 2} s"}


def verdicts(job, prover):
    """Goal -> seconds, None where the prover fails; those that need no prover are left out."""
    module, source, functions, o = job
    r, text = wp.run(ROOT / source, functions, why3=o.why3, cache=o.cache, timeout=TIMEOUT, limit=o.limit, prover=prover, define=o.define)
    wrong = [w for w in r.wrong if not r.total or not w.startswith("exit status")]
    found = dict.fromkeys(r.failed)
    for line in text.splitlines():
        m = VALID.match(line)
        if m:
            t = re.search(r"\((?!Qed)([\d.]+)(ms|s)\)", m.group(2))
            found[m.group(1)] = float(t.group(1)) / (1000 if t.group(2) == "ms" else 1) if t else 0.0
    return found, wrong


def examine(job):
    """(job, goals that need a prover, fragile ones: goal -> level, what went wrong)."""
    module, source, functions, o = job
    key = hashlib.sha256(f"{wp.FLAGS} {functions} {TIMEOUT} {SEEDS}\n{wp.preprocessed(ROOT / source, o.define)}".encode()).hexdigest()[:32]
    kept = OUT / "results" / f"{key}.json"
    if not kept.exists():
        z3, wrong = verdicts(job, "z3")
        cvc4, more = verdicts(job, "cvc4")
        goals = set(z3) | set(cvc4)
        seeds = []
        if any(z3.get(g) is not None and cvc4.get(g) is None for g in goals):
            seeds = [verdicts(job, f"z3seed{s}")[0] for s in SEEDS]
        fragile = {}
        for g in sorted(goals):
            times = [t for t in (z3.get(g), cvc4.get(g)) if t is not None]
            if not times:
                fragile[g] = "neither"
            elif z3.get(g) is None:
                fragile[g] = "CVC4 alone"
            elif cvc4.get(g) is None:
                fragile[g] = "Z3 alone" if all(s.get(g) is not None for s in seeds) else "seed"
            elif min(times) > TIMEOUT / 2:
                fragile[g] = "slow"
        if wrong + more:
            return job, len(goals), fragile, wrong + more
        kept.write_text(json.dumps({"goals": len(goals), "fragile": fragile}))
    state = json.loads(kept.read_text())
    return job, state["goals"], state["fragile"], []


def run(jobs, o):
    (OUT / "results").mkdir(parents=True, exist_ok=True)
    o.cache = OUT / "cache"
    shutil.rmtree(o.cache, ignore_errors=True)
    o.cache.mkdir()
    o.why3 = wp.why3_config(OUT, SEEDS)
    t0, done, table, found, bad = time.time(), 0, {}, [], 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for f in concurrent.futures.as_completed([pool.submit(examine, j) for j in jobs]):
            (module, _, functions, _), goals, fragile, wrong = f.result()
            done += 1
            row = table.setdefault(module, dict.fromkeys(("goals", *LEVELS), 0))
            row["goals"] += goals
            for g, level in fragile.items():
                row[level] += 1
                found.append((LEVELS.index(level), module, g))
            print(f"[{done}/{len(jobs)} {time.time() - t0:4.0f} s] {module:14} {goals - len(fragile)}/{goals} firm  {functions[0]} ..", flush=True)
            for w in wrong:
                print(f"    WRONG  {w}", flush=True)
            bad += bool(wrong)
    print(f"\n{'module':22}{'goals':>7}" + "".join(f"{l:>12}" for l in LEVELS))
    for module, row in sorted(table.items()):
        print(f"{module:22}{row['goals']:7}" + "".join(f"{row[l]:12}" for l in LEVELS))
    for i, level in enumerate(LEVELS):
        names = [f"  {m}  {g}" for k, m, g in sorted(found) if k == i]
        if names:
            print(f"\n{MEANING[level]}: {len(names)}", *names, sep="\n")
    neither = sum(row["neither"] for row in table.values())
    print(f"\nprove-robust: {sum(row['goals'] for row in table.values()) - neither} passed, {neither + bad} failed")
    sys.exit(1 if neither + bad else 0)
