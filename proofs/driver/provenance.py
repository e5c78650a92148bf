"""Where a proof comes from: with which provers, flags and text each module was proven, in a file; and whether such a file still agrees
with the tree and the programs at hand."""
import hashlib, json, re, subprocess
from pathlib import Path

import wp
from wp import ROOT

FORMAT = "qedmalloc provenance 4"
# What decides over a goal, and how each says its version.
PROGRAMS = {"frama-c": ["frama-c", "-version"], "why3": ["why3", "--version"], "z3": ["z3", "--version"], "cvc4": ["cvc4", "--version"],
            "ocaml": ["ocamlopt", "-version"], "gcc": ["gcc", "-dumpfullversion"]}


def said(command):
    """The first line, without the name of the program and when it was built."""
    try:
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        return "not installed"
    line = (p.stdout.strip().splitlines() or ["nothing said"])[0]
    return re.sub(r"^This is CVC4 version ", "", line).strip()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def circumstances(define):
    """What is the same for all modules."""
    return {"provers": {name: said(command) for name, command in PROGRAMS.items()},
            "flags": {"kernel": wp.KERNEL, "wp": wp.WP, "rounds": [[seconds, *more] for seconds, more in wp.ROUNDS],
                      "timeout": wp.TIMEOUT, "define": sorted(define)},
            "driver": {str(f.relative_to(ROOT)): sha256(f.read_bytes())
                       for f in sorted([*(ROOT / "proofs/driver").iterdir(), ROOT / "proofs/prove", wp.APART, wp.FIRST, ROOT / "proofs/data/modules.tsv"]) if f.is_file()}}


def text_of(name, define):
    """The text of a module: the files of the tree that it is made of, and what the preprocessor makes of them and of the C library's headers."""
    source, *more = wp.modules()[name]
    libc = subprocess.run(["frama-c", "-print-share-path"], stdout=subprocess.PIPE, text=True).stdout.strip() + "/libc"
    command = ["gcc", "-E", "-nostdinc", "-x", "c", "-D_GNU_SOURCE", "-D__FRAMAC__", "-D__FC_MACHDEP_X86_64", f"-I{libc}", f"-I{ROOT}/spec", f"-I{ROOT}/src",
               *(f"-D{d}" for d in define), str(ROOT / source)]
    text = subprocess.run([*command, "-C", "-P"], stdout=subprocess.PIPE, check=True).stdout
    deps = subprocess.run([*command, "-M"], stdout=subprocess.PIPE, text=True, check=True).stdout
    used = {Path(f).resolve() for f in deps.replace("\\\n", " ").split(":", 1)[1].split()}
    used |= {ROOT / f for f in more}
    own = sorted(str(f.relative_to(ROOT)) for f in used if f.is_relative_to(ROOT))
    return {"source": source, "preprocessed": sha256(text), "files": {f: sha256((ROOT / f).read_bytes()) for f in own}}


def begun(modules, define, from_scratch):
    """What is known before the proof: a text that changes while it runs is then not said to be proven."""
    version = re.search(r'define QEDMALLOC_VERSION "(.*)"', (ROOT / "src/include/qedmalloc/qedmalloc.h").read_text()).group(1)
    return {"format": FORMAT, "version": version, "from_scratch": from_scratch, **circumstances(define),
            "modules": {name: text_of(name, define) for name in modules}}


def write(path, record, results):
    """results: module -> (functions, function -> its goals that the first round left open, what proved which goal of the first round, proven goals,
    goals, seconds)."""
    for name, (functions, late, by, proven, goals, seconds) in results.items():
        record["modules"][name] |= {"functions": functions, "late": late, "by": by, "proven": proven, "goals": goals, "seconds": round(seconds)}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")


def differences(what, then, now):
    """Sentences; a value that is on one side only is a difference too."""
    for key in sorted({*then, *now}):
        if then.get(key) != now.get(key):
            yield f"{what} {key}: proven with {then.get(key, 'nothing')}, here is {now.get(key, 'nothing')}"


def settled(path):
    """(file of its module, function) -> the goals that the first round left open, and what proved which goal of its module in that round, if not Z3 at
    once; for each function of which the file says that a proof from scratch of just this text, with what is here, has proven each goal."""
    try:
        record = json.loads(Path(path).read_text())
        if record["format"] != FORMAT or not record["from_scratch"] or record["flags"]["define"]:
            return {}
        now, known = circumstances([]), wp.modules()
        if any(record[what] != now[what] for what in now):
            return {}
        found = {}
        for name, then in record["modules"].items():
            here = text_of(name, []) if name in known and then["proven"] == then["goals"] > 0 else {}
            if here and all(then[key] == value for key, value in here.items()):
                found |= {(file, f): (then["late"].get(f, []), then["by"]) for file in known[name] for f in then["functions"]}
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def among(goal, names):
    """Those of these goals that may be the goal, or that have met it together with others. Such a one has the beginning of the name, and a number
    behind it tells goals of a name apart."""
    return [g for g in names if goal.startswith(re.sub(r"_\d+$", "", g))]


def at_first(late, goal):
    """Has the first round met the goal of a function, of which it left these open?"""
    return not late or (goal != "" and not among(goal, late))


def at_once(by, goal):
    """Has Z3 proven the goal at once, if these goals were proven otherwise?"""
    return goal != "" and not among(goal, by)


def verify(path):
    """Prints each way in which the file does not agree with what is here; True if there is none."""
    try:
        record = json.loads(Path(path).read_text())
        wrong = [] if record["format"] == FORMAT else [f"format: {record['format']}, not {FORMAT}"]
        define = record["flags"]["define"]
        now = circumstances(define)
        for what in ("provers", "flags", "driver"):
            wrong += differences(what, record[what], now[what])
        known, goals = wp.modules(), 0
        for name, then in record["modules"].items():
            if name not in known:
                wrong.append(f"{name}: no such module")
                continue
            here, goals = text_of(name, define), goals + then["goals"]
            wrong += differences(f"{name}: text of", then["files"], here["files"])
            if then["files"] == here["files"] and then["preprocessed"] != here["preprocessed"]:
                wrong.append(f"{name}: the preprocessed text is another one: the C library's headers of the prover differ")
            if then["goals"] == 0 or then["proven"] != then["goals"]:
                wrong.append(f"{name}: {then['proven']} of {then['goals']} goals were proven")
            missing = [f for f in wp.module_functions(name, known[name]) if f not in then["functions"]]
            if missing and not define:
                wrong.append(f"{name}: not proven: {' '.join(missing)}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        print(f"{path}: not a file of provenance: {type(e).__name__} {e}")
        return False
    for w in wrong:
        print(w)
    left = [m for m in known if m not in record["modules"]]
    print(f"{path}: {len(record['modules'])} modules, {goals} goals" + ("" if record["from_scratch"] else ", with results of earlier runs")
          + (f"; not in the file: {' '.join(left)}" if left else ""))
    print(f"verify: {'agrees' if not wrong else f'{len(wrong)} differences'}")
    return not wrong
