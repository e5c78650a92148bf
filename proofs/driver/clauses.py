"""Macros of clauses: where several contracts share a ladder of clauses, a file of spec/ defines it once. The ladder may take its keyword
as a parameter, `kind`: WHOLE(requires), WHOLE(ensures), WHOLE(loop invariant).

Frama-C's preprocessor expands them. This does so for the tools that read contracts as text.
"""
import re
from pathlib import Path

SPEC = Path(__file__).resolve().parent.parent.parent / "spec"
DEFINE = re.compile(r"^#define (\w+)(?:\(([^)]*)\))?[ \\]((?:.*\\\n)*.*)$", re.M)


def definitions():
    """name -> (parameters, body) of the macros whose body is clauses, or begins with such a macro"""
    defined = {}
    for path in sorted(SPEC.rglob("*.acsl")):
        for name, parameters, body in DEFINE.findall(path.read_text()):
            defined[name] = [p.strip() for p in parameters.split(",") if p.strip()], re.sub(r"\s*\\\n\s*", " ", body).strip()
    found = {}
    while True:
        more = {n: d for n, d in defined.items() if n not in found
                and (m := re.match(r"\w+", d[1])) and (m.group(0) in ("requires", "ensures", "kind") or m.group(0) in found)}
        if not more:
            return found
        found |= more


def expand(text, found=None):
    """The text with each use of a macro of clauses replaced by what it stands for."""
    found = definitions() if found is None else found
    if not found:
        return text

    def use(m):
        parameters, body = found[m.group(1)]
        for p, a in zip(parameters, (m.group(2) or "").split(",")):
            body = re.sub(rf"\b{p}\b", lambda _: a.strip(), body)
        return expand(body, found)

    return re.sub(rf"(?<!#define )\b({'|'.join(found)})\b(?:\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))?", use, text)
