"""The sources: where each function, clause and predicate stands, and a page for each file."""
import re, subprocess, sys
from frame import ROOT, esc

sys.path.insert(0, str(ROOT / "proofs/driver"))
import clauses as macros

ANNOTATION = re.compile(r"/\*@.*?\*/|/@.*?@/", re.S)
CLAUSE = re.compile(r"\b(?:requires|ensures|assigns|exits|terminates)\s+(\w+)\s*:")
DECLARED = re.compile(r"\s*(?:\*/\s*)?(?:[\w]+(?:\([^()]*\))?[\s*]+)*?(\w+)\s*\(")
FOLDERS = ("src", "spec", "proofs/theorems")
TOKENS = re.compile(r"(?P<spec>/\*@.*?\*/|//@[^\n]*)|(?P<note>/\*.*?\*/|//[^\n]*)|(?P<text>\"(?:\\.|[^\"\\\n])*\")|(?P<pre>^[ \t]*#[^\n]*)|"
                    r"(?P<word>\b(?:if|else|for|while|do|switch|case|default|return|break|continue|static|inline|const|struct|enum|union|extern|void|bool|"
                    r"char|int|unsigned|sizeof|volatile|uint\d+_t|int\d+_t|size_t|uintptr_t)\b)", re.S | re.M)
INSIDE = re.compile(r"(?P<key>\b(?:requires|ensures|assigns|ghost|assert|loop invariant|loop assigns|loop variant|predicate|logic|terminates|exits)\b)"
                    r"(?P<name>\s+\w+:)?")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Sources:
    def __init__(self):
        self.functions, self.names, self.files = {}, {}, {}
        ladders = {n: re.findall(CLAUSE, macros.expand(b)) + re.findall(r"\bkind\s+(\w+)\s*:", b) for n, (_, b) in macros.definitions().items()}
        for folder in FOLDERS:
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in (".c", ".h", ".cc", ".acsl"):
                    self.read(str(path.relative_to(ROOT)), path.read_text(), ladders)

    def read(self, path, text, ladders):
        self.files[path] = text
        for m in ANNOTATION.finditer(text):
            inner = m[0]
            if inner.startswith("/*@") and "/@" in inner:            # a ghost function, with its contract inside
                for g in re.finditer(r"/@.*?@/", inner, re.S):
                    self.contract(path, text, m.start() + g.start(), g[0], m.start() + g.end(), ladders)
            elif not inner.startswith("/@"):
                self.contract(path, text, m.start(), inner, m.end(), ladders)
        for m in re.finditer(r"^\s*(?:predicate|logic \w+|#define)\s+(\w+)", text, re.M):
            self.names.setdefault(m[1], (path, line_of(text, m.start(1))))
        if not path.startswith("src/tools"):
            for m in re.finditer(r"^(?!typedef|struct|extern|#|return)[a-zA-Z_][\w\s*]*?\b(\w+)\([^;{}]*\)[^;{}]*\{", text, re.M):
                self.names.setdefault(m[1], (path, line_of(text, m.start(1))))

    def contract(self, path, text, at, inner, end, ladders):
        found = {c[1]: line_of(text, at + c.start()) for c in CLAUSE.finditer(inner)}
        for use in re.finditer(r"\b([A-Z][A-Z_]+)\b", inner):
            for clause in ladders.get(use[1], ()):
                found.setdefault(clause, line_of(text, at + use.start()))
        declared = DECLARED.match(text, end)
        if not found or not declared or declared[1] in ("if", "while", "for", "switch"):
            return
        known = self.functions.get(declared[1])
        if not known or len(found) > len(known[2]):
            self.functions[declared[1]] = path, line_of(text, declared.start(1)), found

    def place(self, word):
        """(file, line) of a function, predicate or macro, or None."""
        if word in self.functions:
            return self.functions[word][:2]
        return self.names.get(word)


def coloured(text, kind):
    def inside(m):
        return f"<b>{esc(m['key'])}</b>" + (f"<u>{esc(m['name'])}</u>" if m["name"] else "")

    def piece(m):
        which = m.lastgroup
        if which == "spec":
            done, at = [], 0
            for i in INSIDE.finditer(m[0]):
                done += [esc(m[0][at:i.start()]), inside(i)]
                at = i.end()
            inner = "".join(done) + esc(m[0][at:])
        else:
            inner = esc(m[0])
        return "\n".join(f"<span class={which}>{l}</span>" if l else "" for l in inner.split("\n"))
    if kind not in (".c", ".h", ".cc", ".acsl"):
        return esc(text)
    done, at = [], 0
    for m in TOKENS.finditer(text):
        done += [esc(text[at:m.start()]), piece(m)]
        at = m.end()
    return "".join(done) + esc(text[at:])


def write_pages(site, reached):
    """A page for each file that something links to; lines that the fuzzers reach or miss have a mark."""
    for path in sorted(site.wanted):
        text = (ROOT / path).read_text(errors="replace")
        up = "../" * (path.count("/") + 1)
        marks = reached.get(path, {})
        lines = []
        for i, l in enumerate(coloured(text, "." + path.rsplit(".", 1)[-1]).rstrip("\n").split("\n"), 1):
            mark = "" if i not in marks else " class=hit" if marks[i] else " class=miss"
            lines.append(f'<span id=L{i}{mark}><a href="#L{i}" tabindex=-1>{i}</a>{l}\n</span>')
        legend = "<p class=legend><span class=hit>blue: a committed input of the fuzzers reaches the line</span> · <span class=miss>orange: none does</span></p>" if marks else ""
        site.page(f"source/{path}", path, f"<h1 class=path>{esc(path)}</h1>{legend}<pre class=code tabindex=0>{''.join(lines)}</pre>", up)


def index_page(site):
    groups = {}
    for path in sorted(site.sources.files):
        groups.setdefault(path.rsplit("/", 1)[0], []).append(path)
    body = "".join(f'<section><h2 id="{esc(g)}">{esc(g)}/</h2><p class=files>' + " ".join(site.source(p, text=esc(p.rsplit("/", 1)[1])) for p in ps) + "</p></section>"
                   for g, ps in groups.items())
    site.page("sources", "Sources", f"<h1>Sources</h1><p class=lead>The text that the compiler and the prover read, with its contracts.</p>{body}")
