"""Operator-level mutants of C text: of what is compiled, not of contracts or ghost code.

Each mutant replaces one stretch of one function's body. Its id depends on the module, the function and the lines before and after,
not on line numbers, so that it survives changes elsewhere in the file.
"""
import hashlib, re
from dataclasses import dataclass
import wp

RELATION = {"<": ["<=", ">"], "<=": ["<", ">"], ">": [">=", "<"], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*", "%"], "%": ["/"], "++": ["--"], "--": ["++"], "<<": [">>"], ">>": ["<<"],
              "&": ["|"], "|": ["&"], "^": ["|"], "&&": ["||"], "||": ["&&"], "!": [""], "~": [""],
              "+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "/=": ["*=", "="], "|=": ["&="], "&=": ["|="], "^=": ["="]}
UNARY = {"!", "~", "++", "--"}
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto", "sizeof"}
TYPES = re.compile(r"(?:const|static|struct|union|enum|unsigned|signed|int|long|short|char|bool|void|float|double|_Alignas|_Static_assert|\w+_t)$")
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d\w*|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S')
LOCK = re.compile(r"\w*(?:lock|unlock)\s*\(")


@dataclass
class Mutant:
    module: str
    path: str           # of the file, below the root
    function: str
    kind: str
    line: int
    begin: int
    end: int
    old: str
    new: str
    before: str         # the line, without margins
    after: str
    key: str = ""

    def text(self, original):
        return original[:self.begin] + self.new + original[self.end:]

    def shown(self):
        return f"{self.path}:{self.line} {self.function}: {self.before}  ->  {self.after}"


def blank(text):
    """The text with comments, contracts, ghost code and preprocessor lines replaced by spaces, at the same length."""
    space = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", space, text, flags=re.S)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", space, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", space, text, flags=re.M)


def operand_before(tokens, i):
    """An operator at i has a left operand: it is binary, and not part of a declaration."""
    if i == 0:
        return False
    t = tokens[i - 1].group(0)
    if t in (")", "]"):
        return t == "]" or not is_cast(tokens, i - 1)
    return bool(re.match(r"\w", t)) and t not in KEYWORDS and not TYPES.match(t)


def is_cast(tokens, close):
    return close >= 2 and bool(TYPES.match(tokens[close - 1].group(0)))


def closing(tokens, i):
    """The index of the parenthesis that closes the one at i."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[j].group(0), 0)
        if depth == 0:
            return j
    return len(tokens) - 1


def edits(text, begin, end):
    """(kind, begin, end, new) of the body at begin .. end."""
    tokens = [m for m in TOKEN.finditer(text, begin, end)]
    nesting = parentheses = 0
    for i, m in enumerate(tokens):
        t = m.group(0)
        nesting += {"{": 1, "}": -1}.get(t, 0)
        parentheses += {"(": 1, ")": -1}.get(t, 0)
        for new in RELATION.get(t, []):
            yield "relation", m.start(), m.end(), new
        if t in ARITHMETIC and (t in UNARY or operand_before(tokens, i)):
            for new in ARITHMETIC[t]:
                yield "arithmetic", m.start(), m.end(), new
        number = re.match(r"(0x[0-9A-Fa-f]+|\d+)([uUlL]*)$", t)
        if number:
            n = int(number.group(1), 0)
            for k in ([n + 1, n - 1] if n > 0 else [n + 1]):
                yield "constant", m.start(), m.end(), f"{k}{number.group(2)}"
        followed = tokens[i + 1].group(0) if i + 1 < len(tokens) else ""
        if re.match(r"[A-Z][A-Z0-9_]{2,}$", t) and followed != "(" and t != "NULL":
            yield "constant", m.start(), m.end(), f"({t} + 1)"
            yield "constant", m.start(), m.end(), f"({t} - 1)"
        if re.match(r"[A-Za-z_]\w*$", t) and t not in KEYWORDS and followed == "(":
            yield from swaps(text, tokens, i + 1)
        previous = tokens[i - 1].group(0) if i else ""
        if parentheses == (t == "(") and (previous in ("{", "}", ";", "else") or (previous == ")" and controls(tokens, i - 1))):
            yield from drops(text, tokens, i, nesting)


def controls(tokens, close):
    """The parenthesis that closes at this index belongs to if, for or while."""
    depth = 0
    for j in range(close, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[j].group(0), 0)
        if depth == 0:
            return j > 0 and tokens[j - 1].group(0) in ("if", "for", "while")
    return False


def swaps(text, tokens, opening):
    stop, depth, cuts = closing(tokens, opening), 0, [tokens[opening].end()]
    for j in range(opening + 1, stop):
        t = tokens[j].group(0)
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(t, 0)
        if t == "," and depth == 0:
            cuts += [tokens[j].start(), tokens[j].end()]
    cuts.append(tokens[stop].start())
    arguments = [(cuts[k], cuts[k + 1]) for k in range(0, len(cuts), 2)]
    for (a, b), (c, d) in zip(arguments, arguments[1:]):
        one, two = text[a:b].strip(), text[c:d].strip()
        if one != two:
            yield "swap", a, d, f"{' ' * text[a:b].startswith(' ')}{two}, {one}"


def drops(text, tokens, i, nesting):
    """The expression statement, or early return, that begins at token i."""
    t = tokens[i].group(0)
    if t == "return":
        if nesting < 2:
            return
    elif not re.match(r"[A-Za-z_(*+-]", t) or t in KEYWORDS or TYPES.match(t) or re.match(r"[\w]+\s+\**\s*\w+\s*[=;\[]", text[tokens[i].start():]):
        return
    depth = 0
    for j in range(i, len(tokens)):
        s = tokens[j].group(0)
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(s, 0)
        if depth < 0:
            return
        if s == ";" and depth == 0:
            statement = text[tokens[i].start():tokens[j].end()]
            yield "lock" if LOCK.match(statement) else "statement", tokens[i].start(), tokens[j].end(), ";"
            return


def mutants(module, files, root):
    """All mutants of a module's C files under src/."""
    found = []
    for path in files:
        if not path.startswith("src/"):
            continue
        original = (root / path).read_text()
        text = blank(original)
        for function, begin, end in wp.bodies(text):
            seen = {}
            for kind, b, e, new in edits(text, begin, end):
                line_begin, line_end = original.rfind("\n", 0, b) + 1, original.find("\n", e)
                squeeze = lambda s: re.sub(r"\s+", " ", s).strip()
                before = squeeze(text[line_begin:line_end])
                after = squeeze(text[line_begin:b] + new + text[e:line_end])
                if before == after:
                    continue
                nth = seen[before, after] = seen.get((before, after), 0) + 1
                key = hashlib.sha256(f"{module} {function} {before} -> {after} {nth}".encode()).hexdigest()[:10]
                found.append(Mutant(module, path, function, kind, original.count("\n", 0, b) + 1, b, e, original[b:e], new, before, after, key))
    return found


def order(found, seed):
    """One of each kind after the other, in an order that only ids and seed decide."""
    by_kind = {}
    for m in found:
        by_kind.setdefault(m.kind, []).append(m)
    for kind in by_kind:
        by_kind[kind].sort(key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).digest())
    ordered = []
    while any(by_kind.values()):
        ordered += [ms.pop(0) for _, ms in sorted(by_kind.items()) if ms]
    return ordered
