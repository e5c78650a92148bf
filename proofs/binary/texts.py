"""texts: the contracts as they stand in the sources, so that each formula here can be held against the clause that it is."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "proofs/driver"))
import clauses

KEYWORDS = "requires|ensures|assigns|terminates|exits|behavior|assumes"


def words(text):
    return re.sub(r"\s+", " ", text).strip()


def has_contract(file, function):
    try:
        return bool(contract(file, function))
    except SystemExit:
        return False


def contract(file, function):
    """(kind, name) -> text of each clause of the function's contract"""
    text = re.sub(r"__attribute__\(\(\w+\)\) ", "", (ROOT / file).read_text())
    for m in re.finditer(r"/\*@((?:(?!\*/).)*)\*/\s*[^;{}/=]*?\b(\w+)\s*\(", text, re.S):
        if m.group(2) == function:
            body = clauses.expand(m.group(1))
            found = re.findall(rf"\b({KEYWORDS})\b\s+(?:(\w+):(?!:))?\s*(.*?);\s*(?={KEYWORDS}|$)", body.strip(), re.S)
            return {(kind, name): words(what) for kind, name, what in found}
    raise SystemExit(f"{file}: there is no contract of {function}")


def ghost_contract(file, function):
    """the same of a ghost function"""
    text = re.sub(r"__attribute__\(\(\w+\)\) ", "", (ROOT / file).read_text())
    m = re.search(rf"/@((?:(?!@/).)*)@/\s*\w+ {function}\(", text, re.S)
    if not m:
        raise SystemExit(f"{file}: there is no contract of {function}")
    found = re.findall(rf"\b({KEYWORDS})\b\s+(?:(\w+):(?!:))?\s*(.*?);\s*(?={KEYWORDS}|$)", clauses.expand(m.group(1)).strip(), re.S)
    return {(kind, name): words(what) for kind, name, what in found}


def predicate(file, name):
    """the body of a predicate"""
    m = re.search(rf"predicate {name}\b(?:\{{[^}}]*\}})?\([^)]*\) =(.*?);\n", (ROOT / file).read_text(), re.S)
    if not m:
        raise SystemExit(f"{file}: there is no predicate {name}")
    return words(m.group(1))
