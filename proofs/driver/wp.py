"""Frama-C/WP as the drivers in this folder run it: which functions a module has, one process over a few of them, its verdict."""
import contextlib, os, re, shutil, subprocess, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "proofs"
# -warn-unsigned-*, -warn-signed-downcast: an unsigned wrap or a lossy conversion is a defect here, although C defines it.
# -wp-status-invalid: a run-time error that is certain is a goal too (without it, the rest is proven from the error).
KERNEL = ["-c11", "-machdep", "gcc_x86_64", "-warn-unsigned-overflow", "-warn-unsigned-downcast", "-warn-signed-downcast",
          "-warn-right-shift-negative"]
WP = ["-wp", "-wp-status-invalid"]
FLAGS = [*KERNEL, *WP, "-wp-rte"]
PROVER = "portfolio"    # proofs/driver/portfolio: Z3, Z3 in its own configuration, CVC4
BRIEFED = "briefed"     # the same, told only what can take part in the proof
SLACK = 10              # so many times what its provers work may a goal take by the clock, for other work goes on beside
SEED = 42
APART = ROOT / "proofs/data/apart.txt"
FIRST = ROOT / "proofs/data/first.txt"
LONG = "z3-long"
FIRSTS = [LONG, "cvc4", "z3-own"]           # what else than Z3 may begin, see proofs/driver/portfolio
LATER = "later"                             # only the second round
AT_ONCE = "z3"                              # as it begins where nothing else is said
PARTS = ["runtime.ml", "together.ml", "total.ml", "relevant.ml", "goals.ml"]
SECTION = """
[prover]
name = "{name}"
version = "{version}"
{which}
command = "{command} %f"
driver = "{driver}"
editor = ""
in_place = false
interactive = false
"""
# Two of Qed's simplifications, of branches and of ground terms, take half of its time, and few goals need them; nor do many need
# the types of all variables, which -wp-rte assumes at each statement: -rte adds the same goals alone.
# Nor do many need axioms that mention nothing which occurs.
BRIEF = ["-wp-no-pruning", "-wp-no-ground"]
WHOLE = ["-wp-pruning", "-wp-ground", "-wp-rte", f"-wp-prover=-{BRIEFED},{PROVER}"]
# Rounds of one process: seconds for a goal, as proofs/driver/portfolio takes them, and what the round changes. Each meets what the one
# before leaves open, the second in parts: most of what the first leaves open are clauses that it met together (see together.ml).
ROUNDS = [(10, BRIEF), (150, [*WHOLE, "-wp-split"])]
# Smoke tests try to prove false from a contract or a loop's invariants; what they find is vacuous.
SMOKE_TESTS = "smoke tests"
SMOKE_FLAGS = ["-wp-smoke-tests", "-wp-no-smoke-dead-code", "-wp-no-smoke-dead-call", "-wp-smoke-timeout", str(10 * SLACK)]
TIMEOUT = 600           # without rounds, in a process of its own, with all simplifications
# For who asks whether goals fail. What does not hold is met in the first way that was enough for what does.
WAYS = [{"timeout": 10, "rounds": ROUNDS[:1], "together": True}, {"timeout": 10, "rounds": ROUNDS[:1]},
        {"timeout": 30}, {"timeout": 30, "split": True}, {"timeout": TIMEOUT}, {"timeout": 3 * TIMEOUT}]
PART = re.compile(r"(_part\d+)+$")      # of a goal that was split
# The provers allocate a lot in a short life: large steps, of huge pages, take less of their time.
MALLOC = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864"
# Lines of Frama-C that mean that something was assumed or left out.
DOUBTFUL = (r"User Error|No such|Missing (decreases|terminates|exits|assigns|RTE)|annot-error|not tried|No 'assigns' specification for"
            r"|No code nor|Deferred|no contract|guaranteed RTE")
GOAL = re.compile(r"^\[wp\] \[[^\]]*\] Goal (\S+)")
PROVED = re.compile(r"Proved goals:\s+(\d+) / (\d+)")
FAILED = re.compile(r"^\[wp\] \[(?!Passed|Qed|CFG)[^\]]*\] (?:Goal|Smoke-test) (\S+)(?: : (?!Valid)\S.*)?$")


def default_jobs():
    """Three for each core: a third of the time neither Frama-C nor its prover runs, for it looks seldom whether one has ended. One
    for 2 GiB of memory at most."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(3 * os.cpu_count(), memory >> 31))


def modules():
    """Module -> its files; the first is the one that Frama-C parses."""
    rows = [l.split() for l in (ROOT / "proofs/data/modules.tsv").read_text().splitlines() if l and not l.startswith("#")]
    return {r[0]: r[1:] for r in rows}


def defined_functions(path):
    """Names of the functions with a body in a source, header or lemma file, ghost ones included."""
    text = path.read_text()
    text = re.sub(r"/@.*?@/", " ", text, flags=re.S)            # contracts inside ghost code
    text = re.sub(r"/\*@\s*ghost\s*\(.*?\*/", " ", text, flags=re.S)  # ghost parameters and arguments
    text = re.sub(r"/\*@\s*ghost\b(.*?)\*/", lambda m: m.group(1), text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", " ", text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)     # preprocessor lines
    return [name for name, _, _ in bodies(text)]


def bodies(text):
    """(name, begin, end) of each function body in a text without comments and preprocessor lines."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c == "{":
            if depth == 0:
                m = re.search(r"(\w+)\s*\([^;{}=]*\)\s*$", text[start:i])
                name, begin = m and m.group(1), i
            depth += 1
        elif c == "}":
            depth -= 1
            start = i + 1
            if depth == 0 and name and name != "_Static_assert":
                found.append((name, begin, i + 1))
        elif c == ";" and depth == 0:
            start = i + 1
    return found


def lemmas(name):
    """The lemma file of a module, in the folder of its layer, if there is one."""
    return sorted((ROOT / "spec").glob(f"*/{name}_lemmas.acsl"))


def module_functions(name, files):
    """In the order of the files, without repeats."""
    paths = [ROOT / f for f in files]
    paths += lemmas(name)
    seen = {}
    for p in paths:
        for f in defined_functions(p):
            seen.setdefault(f, None)
    return list(seen)


def preprocessed(source, define=(), include=(), root=ROOT):
    """What the provers read of a source, contracts and all headers included."""
    folders = [*include, root / "spec", root / "src"]
    cmd = ["gcc", "-E", "-C", "-P", "-x", "c", "-D_GNU_SOURCE", "-D__FRAMAC__", *(f"-I{f}" for f in folders), *(f"-D{d}" for d in define), str(source)]
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def forget_failures(cache):
    """Takes from a cache what is not proven: a goal that failed while the machine was busy gets its full time again."""
    for f in Path(cache).glob("*.json"):
        with contextlib.suppress(FileNotFoundError):        # another process does the same
            if '"valid"' not in f.read_text():
                f.unlink()


def why3_config(directory, seeds=()):
    """Which provers there are: CVC4 as found, Z3 as the portfolio calls it first, also for each of the seeds, the portfolio, that briefed.
    Beside it, in frama-c.cmxs, what Frama-C is loaded with."""
    conf = directory / "why3.conf"
    found = directory / f"why3.{os.getpid()}"
    directory.mkdir(parents=True, exist_ok=True)
    subprocess.run(["why3", "config", "detect"], env={**os.environ, "WHY3CONFIG": str(found)},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    sections = re.sub(r"memlimit = \d+", "memlimit = 4000", found.read_text()).split("\n\n")
    z3 = next(s for s in sections if 'name = "Z3"' in s)
    version = re.search(r'version = "(.*)"', z3).group(1)
    portfolio = ROOT / "proofs/driver/portfolio"
    options = " ".join(re.findall(r'^z3="(?:z3|\$z3) (.*)"$', portfolio.read_text(), re.M))
    kinds = [("Z3", version, 'shortcut = "z3"' if s == SEED else f'alternative = "seed{s}"\nshortcut = "z3seed{s}"',
              f"z3 -T:%t {options.replace(str(SEED), str(s))}", "z3_471") for s in (SEED, *seeds)]
    for prover, driver in (PROVER, "z3_471"), (BRIEFED, ROOT / "proofs/driver/briefed.drv"):
        for first, name in [(AT_ONCE, prover), *((f, f"{prover}-{f}") for f in FIRSTS)]:
            kinds.append(("Portfolio", "1", f'alternative = "{name}"\nshortcut = "{name}"', f"{portfolio} {first} {SLACK} %t", driver))
    found.write_text("\n\n".join(s for s in sections if s is not z3)
                     + "".join(SECTION.format(name=n, version=v, which=w, command=c, driver=d) for n, v, w, c, d in kinds))
    found.replace(conf)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        for part in PARTS:
            shutil.copy(ROOT / "proofs/driver" / part, scratch)
        folders = ["+why3", "+zarith", "+menhirLib"]
        folders += [subprocess.run(["frama-c", f"-print-{p}-path"], stdout=subprocess.PIPE, text=True, check=True).stdout for p in ("lib", "plugin")]
        subprocess.run(["ocamlopt", "-shared", *(o for f in folders for o in ("-I", f)), "-o", "frama-c.cmxs", *PARTS], cwd=scratch, check=True)
        Path(scratch, "frama-c.cmxs").replace(directory / "frama-c.cmxs")
    return conf


def owner(goal, functions):
    """The function after which a goal is named, of two that fit the longer one; None if there is none. What WP sees without a formula has no prefix."""
    return max((f for f in functions if goal.removeprefix("typed_").startswith(f"{f}_")), key=len, default=None)


def firsts():
    """(number of a round, what comes first in it, goal) of the goals of which proofs/data/first.txt says it."""
    rows = [l.split() for l in FIRST.read_text().splitlines() if not l.startswith("#")]
    return [(number, prover, f"typed_{goal}") for number, prover, goal in rows]


class Result:
    """proved, total: goals; failed: names of goals; wrong: what else went wrong; met, late: goals of the first round, and those that it
    left open; first: what proved which goals of it, as proofs/data/first.txt says it."""
    def __init__(self, proved, total, failed, wrong, met=(), late=(), first={}):
        self.proved, self.total, self.failed, self.wrong, self.met, self.late, self.first = proved, total, failed, wrong, met, late, first
        self.ok = proved == total and not failed and not wrong


def run(source, functions, *, why3, cache, timeout, limit, prover=PROVER, rounds=(), together=False, include=(), define=(), chosen=None, log=None,
        first=False, learn=False, split=False, alone=False, root=ROOT):
    """One process over a few functions. rounds: these, whatever timeout and prover; together: clauses that one place owes are one goal;
    include: folders that come before the tree's own; chosen: SMOKE_TESTS, or names of goals, which are met and no others, clause by clause,
    in the first of the rounds; split: goals in parts, where there are no rounds; first: stop at the first failure; learn: without what is known of
    what proves a goal; alone: Z3 as it begins, with twice its steps, and no other attempt."""
    folders = [*include, root / "spec", root / "src"]
    names = ",".join(functions)
    plugins = f"wp,rtegen,{Path(why3).with_name('frama-c.cmxs').resolve()}"
    kernel = ["timeout", str(limit), "frama-c", "-no-autoload-plugins", "-load-module", plugins, *KERNEL,
              "-cpp-extra-args=" + " ".join([f"-I{f}" for f in folders] + [f"-D{d}" for d in define])]
    wp = ["-wp-par", "1", "-wp-cache", "update", "-wp-cache-dir", str(cache)]
    choice, parts = {}, ["-wp-split"] if split else []
    if chosen or rounds:                # see goals.ml
        choice["QED_FUNCTIONS"] = names
        if chosen is SMOKE_TESTS:
            wp += SMOKE_FLAGS
            choice["QED_GOALS"] = "smoke"
        elif chosen:
            choice["QED_GOALS"] = ",".join(chosen)
        if alone:
            choice["QED_ALONE"] = "yes"
        if rounds:                      # a goal that is chosen is there to fail
            prover = BRIEFED if alone or not chosen else f"{BRIEFED}-{LONG}"
        cmd = [*kernel, "-rte", "-rte-select", names, *wp, "-wp-status-invalid", "-wp-prover", prover]
        steps = list(rounds) or [(timeout, ["-wp-rte", *parts])]
        for i, (seconds, more) in enumerate(steps[:1] if chosen else steps):
            cmd += [*(["-then"] if i else []), "-wp-timeout", str(SLACK * seconds), *more, *([] if i else [str(source)])]
        for n, name, goal in [] if learn or chosen or not rounds else firsts():
            if owner(goal, functions) and (name != LATER or (len(steps) > 1 and together)):
                key = f"QED_{n}_{name}"
                choice[key] = f"{choice[key]},{goal}" if key in choice else goal
    else:
        slack = SLACK if prover == PROVER else 1
        cmd = [*kernel, *wp, *WP, "-wp-fct", names, "-wp-rte", *parts, "-wp-prover", prover, "-wp-timeout", str(slack * timeout), str(source)]
    if together and not chosen:
        choice["QED_TOGETHER"] = ",".join(l for l in APART.read_text().splitlines() if not l.startswith("#"))
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        provers = Path(scratch, "provers")
        p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "WHY3CONFIG": str(why3), "TMPDIR": scratch, "GLIBC_TUNABLES": MALLOC, "QED_PROVERS": str(provers),
                                  **choice})
        for line in p.stdout:
            lines.append(line.rstrip("\n"))
            if first and FAILED.match(lines[-1]):
                p.terminate()               # `timeout` passes it on to Frama-C
                break
        p.communicate()
        noted = provers.read_text().split() if provers.exists() else []
    text = "\n".join(lines)
    if log:                             # with who has proven each goal that went to the portfolio, in their order, and the configuration
        log.write_text("\n".join([*lines, " ".join(["[provers]", *noted]), " ".join(["[define]", *define])]) + "\n")
    rounds_met = [[]]
    for line in lines:
        if line.startswith(("[wp] Chosen goals", "[wp] Running WP plugin")):
            rounds_met.append([])
        rounds_met[-1].append(line)
    open_goals, counts, late, met_first = [], [], [], []
    for part in rounds_met:             # a round ends with what it has proven; goals.ml says so for each prover
        left = [m.group(1) for m in map(FAILED.match, part) if m]
        found = [(int(m.group(1)), int(m.group(2))) for m in map(PROVED.search, part) if m]
        later = sum(line.startswith("[wp] [Later]") for line in part)
        if not found and not later:
            open_goals += left
            continue
        met = {m.group(1) for m in map(GOAL.match, part) if m}
        if counts and not {PART.sub("", g) for g in met}.issuperset(PART.sub("", g) for g in open_goals):
            break                       # a goal that is open was not met again
        open_goals = left
        counts.append((sum(n for n, _ in found), later + sum(m for _, m in found)) if part[0].startswith("[wp] Chosen") else found[0])
        if len(counts) == 1:
            met_first, late = sorted(met), left
            if len(left) != counts[0][1] - counts[0][0]:
                break                   # nor is it known which ones are
    to_provers = [(n, m.group(1)) for n, part in enumerate(rounds_met) for line in part
                  if "[Portfolio" in line and "(cached)" not in line and (m := GOAL.match(line))]
    by = {place: LATER if name == "none" else name for place, name in zip(to_provers, noted) if name != AT_ONCE}
    if first and open_goals:
        return Result(0, 0, open_goals, []), text
    proved, total = counts[0] if counts else (0, 0)
    if len(counts) > 1:
        proved = total - len(open_goals)
    wrong = []
    if p.returncode != 0:
        wrong.append(f"exit status {p.returncode}" + (" (time limit)" if p.returncode == 124 else ""))
    made = re.search(r"Chosen goals: (\d+) of (\d+)", text)
    if made and not chosen and not int(made.group(1)) == int(made.group(2)) <= total:
        wrong.append("goals that WP made were not met")
    if not counts and not re.search(r"Chosen goals: 0 of [1-9]", text):
        wrong.append("no goals")
    wrong += [l for l in lines if re.search(DOUBTFUL, l, re.I)]
    return Result(proved, total, open_goals, wrong, met_first, late, by), text
