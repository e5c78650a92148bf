"""Frama-C/WP as the drivers in this folder run it: which functions a module has, one process over a few of them, its verdict."""
import contextlib, os, re, subprocess, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "proofs"
# -warn-unsigned-*: an unsigned wrap or a lossy conversion is a defect here, although C defines it.
# -wp-status-invalid: a run-time error that is certain is a goal too (without it, the rest is proven from the error).
FLAGS = ["-c11", "-machdep", "gcc_x86_64", "-wp", "-wp-rte", "-warn-unsigned-overflow", "-warn-unsigned-downcast",
         "-wp-status-invalid"]
# Both provers at once: the first that is done stops the other. Frama-C looks after them 20 times a second: where goals are
# small (SMALL: folders and files), two of them at once save a third of the time. Where they are large, CVC4 alone proves nearly
# all of them, and the first round leaves the other core to another chunk. PAR* are processes for -wp-par.
PROVERS, PAR, PAR_SMALL, SMALL = "cvc4,z3", "2", "4", {"math", "ds", "theorems", "decay.c", "extent.c", "base.c"}
PROVER_FIRST, PAR_FIRST = "cvc4", "1"
# Two of Qed's simplifications, of branches and of ground terms, take half of its time, and few goals need them: the first round
# goes without, and the second, in the same process, meets what is left open with them.
BRIEF = ["-wp-no-pruning", "-wp-no-ground"]
WHOLE = ["-wp-pruning", "-wp-ground"]
# Smoke tests try to prove false from a contract or a loop's invariants; what they find is vacuous. The flags select no goals,
# so a smoke run meets all others again, and takes their results from the cache that a proof from scratch has filled.
SMOKE = ["-wp-smoke-tests", "-wp-no-smoke-dead-code", "-wp-no-smoke-dead-call", "-wp-smoke-timeout", "1"]
HEAP = "s=4M,o=400"     # Frama-C's own: with OCaml's defaults a tenth of its time goes into collecting garbage
TIMEOUT_BRIEF = 3       # seconds for a goal in the first round
TIMEOUT_AGAIN = 10      # with all simplifications and both provers
TIMEOUT = 40            # and in a process of its own: twice what the slowest goal takes on two busy cores
# Lines of Frama-C that mean that something was assumed or left out.
DOUBTFUL = (r"User Error|No such|Missing (decreases|terminates|exits|assigns|RTE)|annot-error|not tried|No 'assigns' specification for"
            r"|No code nor|Deferred|no contract|guaranteed RTE")
GOAL = re.compile(r"^\[wp\] \[[^\]]*\] Goal (\S+)")
FAILED = re.compile(r"^\[wp\] \[(?!Passed|Qed|CFG)[^\]]*\] (?:Goal|Smoke-test) (\S+)(?: : (?!Valid)\S.*)?$")


def modules():
    """Module -> its files; the first is the one that Frama-C parses."""
    rows = [l.split() for l in (ROOT / "proofs/modules.tsv").read_text().splitlines() if l and not l.startswith("#")]
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


def module_functions(name, files):
    """In the order of the files, without repeats."""
    paths = [ROOT / f for f in files]
    lemmas = ROOT / f"spec/{name}_lemmas.acsl"
    if lemmas.exists():
        paths.append(lemmas)
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


def why3_config(directory):
    conf = directory / "why3.conf"
    if not conf.exists():
        directory.mkdir(parents=True, exist_ok=True)
        subprocess.run(["why3", "config", "detect"], env={**os.environ, "WHY3CONFIG": str(conf)},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        conf.write_text(re.sub(r"memlimit = \d+", "memlimit = 4000", conf.read_text()))
    return conf


class Result:
    """proved, total: goals; failed: names of goals; wrong: what else went wrong."""
    def __init__(self, proved, total, failed, wrong):
        self.proved, self.total, self.failed, self.wrong = proved, total, failed, wrong
        self.ok = proved == total and not failed and not wrong


def run(source, functions, *, why3, cache, timeout, limit, provers=PROVERS, include=(), define=(), extra=(), log=None, first=False,
        brief=False, again=0, root=ROOT):
    """One process over a few functions. brief: without the simplifications that take long; again: a first round of the one prover, and
    seconds for a goal that it leaves open, with all; include: folders that come before the tree's own; first: stop at the first failure."""
    folders = [*include, root / "spec", root / "src"]
    small = bool(SMALL & set(Path(source).parts))
    both = ["-wp-par", PAR_SMALL if small else PAR, "-wp-prover", provers]
    one = ["-wp-par", PAR_FIRST, "-wp-prover", PROVER_FIRST]
    cmd = ["timeout", str(limit), "frama-c", *FLAGS, *(one if again and not small else both), "-wp-timeout", str(timeout), "-wp-fct", ",".join(functions),
           *(BRIEF if brief else []), *extra,
           "-wp-cache", "update", "-wp-cache-dir", str(cache),
           "-cpp-extra-args=" + " ".join([f"-I{f}" for f in folders] + [f"-D{d}" for d in define]), str(source)]
    if again:
        cmd += ["-then", "-wp-fct", ",".join(functions), *WHOLE, *both, "-wp-timeout", str(again)]
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "WHY3CONFIG": str(why3), "TMPDIR": scratch, "OCAMLRUNPARAM": HEAP})
        for line in p.stdout:
            lines.append(line.rstrip("\n"))
            if first and FAILED.match(lines[-1]):
                p.terminate()               # `timeout` passes it on to Frama-C
                break
        p.communicate()
    text = "\n".join(lines)
    if log:
        log.write_text(text)
    counts = [re.search(r"Proved goals:\s+(\d+) / (\d+)", l) for l in lines]
    ends = [i for i, m in enumerate(counts) if m] or [len(lines)]
    failed, left = ([m.group(1) for m in map(FAILED.match, part) if m] for part in (lines[:ends[0]], lines[ends[0]:]))
    if first and failed:
        return Result(0, 0, failed, []), text
    m = next(filter(None, counts), None)
    proved, total = (int(m.group(1)), int(m.group(2))) if m else (0, 0)
    met = {m.group(1) for m in map(GOAL.match, lines[ends[0]:]) if m}
    if len(ends) == 2 and failed and len(failed) == total - proved and met.issuperset(failed):
        proved, failed = total - len(left), left        # only if each open goal was met again; those beside it of the same property are, too
    wrong = []
    if p.returncode != 0:
        wrong.append(f"exit status {p.returncode}" + (" (time limit)" if p.returncode == 124 else ""))
    if not m:
        wrong.append("no goals")
    wrong += [l for l in lines if re.search(DOUBTFUL, l, re.I)]
    return Result(proved, total, failed, wrong), text
