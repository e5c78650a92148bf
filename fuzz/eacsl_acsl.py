"""ACSL as trees: a parser for the part of the language that src/ and spec/ use, and a rewriter into the smaller part that
E-ACSL compiles. E-ACSL takes no predicate that reads memory, no recursion, no \\at under a quantifier that depends on the
program, and only quantifiers with a guard in front. So here predicates are unfolded, sums by recursion become \\sum,
memory before the call becomes a copy (see Snapshots), and guards are moved to the front. Nothing is weakened: what cannot
be said that way raises Unsupported and is counted as not checked. One exception is counted apart: a variable without bounds
that indexes a table runs over the table.
"""
import re

TOKEN = re.compile(r"\s+|//[^\n]*|(?P<t>\\?[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|<==>|==>|\.\.|->|<<|>>|<=|>=|==|!=|&&|\|\||.)", re.S)
TYPES = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int64_t", "int32_t", "uintptr_t", "size_t", "int", "char", "long", "unsigned", "integer",
         "bool", "boolean", "struct", "enum", "const", "void", "divide_magic_t"}
LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["CHAIN"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
RELATIONS = {"<", "<=", ">", ">=", "==", "!="}


class Unsupported(Exception):
    pass


def tokens(text):
    return [m.group("t") for m in TOKEN.finditer(text) if m.group("t")]


class Parser:
    def __init__(self, text):
        self.t, self.i = tokens(text), 0

    def peek(self, k=0):
        return self.t[self.i + k] if self.i + k < len(self.t) else None

    def take(self, wanted=None):
        t = self.peek()
        if t is None or (wanted is not None and t != wanted):
            raise Unsupported(f"syntax: {wanted} wanted, {t} found")
        self.i += 1
        return t

    def whole(self):
        e = self.expression()
        if self.peek() is not None:
            raise Unsupported(f"syntax: {self.peek()} is left")
        return e

    def expression(self):
        t = self.peek()
        if t in ("\\forall", "\\exists"):
            self.take()
            variables = self.binders()
            return ("q", t, variables, self.expression())
        if t == "\\let":
            self.take()
            name = self.take()
            self.take("=")
            value = self.expression()
            self.take(";")
            return ("let", name, value, self.expression())
        if re.match(r"[A-Za-z_]\w*$", t or "") and self.peek(1) == ":" and self.peek(2) != ":":
            self.take(), self.take()            # a name
            return self.expression()
        return self.conditional()

    def binders(self):
        kind, names = [], []
        while self.peek(1) not in (",", ";"):
            kind.append(self.take())
        while True:
            names.append(self.take())
            if self.take() == ";":
                return [(" ".join(kind), n) for n in names]

    def conditional(self):
        c = self.equivalence()
        if self.peek() == "?":
            self.take()
            a = self.operand(self.conditional)
            self.take(":")
            return ("cond", c, a, self.operand(self.conditional))
        return c

    def operand(self, lower):
        return self.expression() if self.peek() in ("\\forall", "\\exists", "\\let") else lower()

    def equivalence(self):
        a = self.implication()
        while self.peek() == "<==>":
            self.take()
            a = ("bin", "<==>", a, self.operand(self.implication))
        return a

    def implication(self):
        a = self.binary(0)
        if self.peek() == "==>":
            self.take()
            return ("bin", "==>", a, self.operand(self.implication))
        return a

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        a = self.operand(lambda: self.binary(level + 1))
        if LEVELS[level] == ["CHAIN"]:
            chain = [a]
            while self.peek() in RELATIONS:
                chain += [self.take(), self.binary(level + 1)]
            return a if len(chain) == 1 else ("chain", chain)
        while self.peek() in LEVELS[level]:
            op = self.take()
            a = ("bin", op, a, self.operand(lambda: self.binary(level + 1)))
        return a

    def unary(self):
        t = self.peek()
        if t in ("!", "-", "~", "*", "&"):
            self.take()
            return ("un", t, self.operand(self.unary))
        if t == "(" and self.peek(1) in TYPES:
            self.take()
            kind = []
            while self.peek() != ")":
                kind.append(self.take())
            self.take()
            return ("cast", " ".join(kind), self.unary())
        return self.postfix()

    def postfix(self):
        t = self.take()
        if t == "(":
            e = self.expression()
            if self.peek() == "..":
                self.take()
                e = ("range", e, self.expression())
            self.take(")")
        elif t in ("\\at", "\\old"):
            self.take("(")
            e = self.expression()
            label = "Pre"
            if t == "\\at":
                self.take(",")
                label = self.take()
            self.take(")")
            e = ("at", e, label)
        elif re.match(r"\\?[A-Za-z_]", t):
            labels = []
            if self.peek() == "{":
                self.take()
                while True:
                    labels.append(self.take())
                    if self.take() == "}":
                        break
            if self.peek() == "(":
                self.take()
                arguments = []
                while self.peek() != ")":
                    arguments.append(self.sizeof() if t == "sizeof" else self.expression())
                    if self.peek() == "..":
                        self.take()
                        arguments[-1] = ("range", arguments[-1], self.expression())
                    if self.peek() != ")":
                        self.take(",")
                self.take(")")
                e = ("call", t, labels, arguments)
            else:
                e = ("id", t, labels)
        elif re.match(r"\d", t):
            e = ("num", t)
        else:
            raise Unsupported(f"syntax: {t} found")
        while self.peek() in ("[", ".", "->"):
            op = self.take()
            if op == "[":
                i = self.expression()
                if self.peek() == "..":
                    raise Unsupported("a range of elements")
                e = ("index", e, i)
                self.take("]")
            else:
                e = ("member", e, op, self.take())
        return e

    def sizeof(self):
        words = []
        while self.peek() != ")":
            words.append(self.take())
        return ("num", " ".join(words))


def show(e):
    k = e[0]
    if k in ("num", "id"):
        return e[1]
    if k == "index":
        return f"{show(e[1])}[{show(e[2])}]"
    if k == "member":
        return f"{show(e[1])}{e[2]}{e[3]}"
    if k == "call":
        return f"{e[1]}({', '.join(map(show, e[3]))})"
    if k == "un":
        return f"({e[1]}{show(e[2])})"
    if k == "cast":
        return f"(({e[1]}){show(e[2])})"
    if k == "bin":
        return f"({show(e[2])} {e[1]} {show(e[3])})"
    if k == "chain":
        c = e[1]
        return "(" + " && ".join(f"{show(c[i])} {c[i + 1]} {show(c[i + 2])}" for i in range(0, len(c) - 2, 2)) + ")"
    if k == "cond":
        return f"({show(e[1])} ? {show(e[2])} : {show(e[3])})"
    if k == "at":
        return f"\\at({show(e[1])}, {e[2]})"
    if k == "range":
        return f"({show(e[1])} .. {show(e[2])})"
    if k == "guarded":                          # one variable, guard in front
        _, q, kind, v, low, below, high, upto, body = e
        return f"({q} {kind} {v}; {show(low)} {below} {v} {upto} {show(high)} {'==>' if q == chr(92) + 'forall' else '&&'} {show(body)})"
    if k == "sum":
        return f"\\sum({show(e[2])}, {show(e[3])}, \\lambda integer {e[1]}; {show(e[4])})"
    raise Unsupported(f"no text for {k}")


def children(e):
    for x in e[1:]:
        if isinstance(x, tuple):
            yield x
        elif isinstance(x, list):
            yield from (y for y in x if isinstance(y, tuple) and isinstance(y[0], str) and len(y) > 1 and y[0] in KINDS)


KINDS = {"num", "id", "index", "member", "call", "un", "cast", "bin", "chain", "cond", "at", "range", "q", "let", "guarded", "sum"}


def mentions(e, name):
    return (e[0] == "id" and e[1] == name) or any(mentions(x, name) for x in children(e))


def conjuncts(e):
    return conjuncts(e[2]) + conjuncts(e[3]) if e[0] == "bin" and e[1] == "&&" else [e]


def conjoin(parts, op="&&"):
    whole = parts[-1]
    for p in reversed(parts[:-1]):
        whole = ("bin", op, p, whole)
    return whole


class Definitions:
    """What the files declare: predicates and logic functions, dimensions of arrays, names of variables."""

    def __init__(self):
        self.logic, self.dimensions, self.globals, self.elements = {}, {}, set(), {}

    def add_logic(self, text):
        for m in re.finditer(r"\b(?:predicate|logic\s+[\w \*]+?)\s+(\w+)\s*(\{[^}]*\})?\s*(\([^)]*\))?\s*=(.*?);(?=\s*(?:predicate\b|logic\b|//|$))", text, re.S):
            name, labels, parameters, body = m.groups()
            names = [re.search(r"(\w+)\s*$", p).group(1) for p in (parameters or "()")[1:-1].split(",") if p.strip()]
            try:
                self.logic[name] = (re.findall(r"\w+", labels or ""), names, Parser(body).whole())
            except Unsupported as e:
                self.logic[name] = ([], names, ("unknown", f"{name}: {e}"))

    def add_variables(self, text):
        for m in re.finditer(r"^#define (\w+) (\w+\[\w+\])$", text, re.M):      # a name for an element of a table
            self.elements[m.group(1)] = Parser(m.group(2)).whole()
        for m in re.finditer(r"\bTABLE\(\s*[\w ]+?\s*(\*?)\s*,\s*(\w+)\s*\)", text):
            self.globals.add(m.group(2))
            self.dimensions[m.group(2)] = ["TABLE_MAX"]
        for m in re.finditer(r"\bPOOL\(\s*[\w ]+\s*,\s*(\w+)\s*,\s*(\w+)\s*\)", text):
            self.globals.add(m.group(1))
            self.dimensions[m.group(1)] = [m.group(2)]
        outside, depth = [], 0                      # whether a character is at file scope
        for c in text:
            depth += (c == "{") - (c == "}")
            outside.append(depth == 0)
        for m in re.finditer(r"^[ \t]*(?:extern |static )?(?:struct )?\w+\s+(\*?)(\w+)((?:\[[^\]]+\])*)(?:\s*=[^;]*)?;", text, re.M):
            star, name, sizes = m.groups()
            if m.group(0).strip().startswith(("return", "goto", "typedef")):
                continue
            if sizes:
                self.dimensions.setdefault(name, re.findall(r"\[([^\]]+)\]", sizes))
            if outside[m.end() - 1]:
                self.globals.add(name)


class Rewriter:
    """One clause at a time, of one function (name, formal parameters, those that are pointers with their extents)."""

    def __init__(self, definitions, function, formals, extents):
        self.d, self.function, self.formals, self.extents = definitions, function, formals, extents
        self.copies, self.fresh, self.narrowed = set(), 0, False

    def clause(self, kind, text):
        self.post = kind == "ensures"
        return show(self.guard(self.unfold(Parser(text).whole(), {}, {}, "Here", ())))

    # ---- predicates unfolded, memory of before the call ----

    def unfold(self, e, env, labels, now, stack):
        def go(x):
            return self.unfold(x, env, labels, now, stack)
        k = e[0]
        if k == "unknown":
            raise Unsupported(e[1])
        if k == "num":
            return e
        if k == "id":
            name = e[1]
            if name in env:
                return env[name]
            if name in self.d.elements:
                return go(self.d.elements[name])
            if name in self.d.logic:
                return self.apply(name, e[2], [], labels, now, stack)
            if now == "Pre":
                if name in self.d.globals:
                    self.copies.add(name)
                    return ("id", f"{name}__{self.function}", [])
            if name in self.formals and self.post:
                self.copies.add("=" + name)         # E-ACSL's own \\old of it fails under quantifiers
                return ("id", f"{name}_of_{self.function}", [])
            if now not in ("Here", "Pre") and name not in ("\\true", "\\false", "\\null") and (name in self.d.globals or name in self.formals):
                raise Unsupported(f"memory at {now}")
            return e
        if k in ("index", "un") and now == "Pre" and (k == "index" or e[1] == "*"):
            base = e[1] if k == "index" else e[2]
            base = env.get(base[1], base) if base[0] == "id" else base
            name = base[1].removesuffix(f"_of_{self.function}") if base[0] == "id" else None
            if name in self.formals and name not in self.d.globals:
                if name not in self.extents:
                    raise Unsupported("memory of a pointer before the call")
                self.copies.add(name)
                return ("index", ("id", f"{name}__{self.function}", []), go(e[2]) if k == "index" else ("num", "0"))
        if k == "index":
            return ("index", go(e[1]), go(e[2]))
        if k == "member":
            if now == "Pre" and e[2] == "->":
                raise Unsupported("memory of a pointer before the call")
            return ("member", go(e[1]), e[2], e[3])
        if k == "at":
            return self.unfold(e[1], env, labels, self.label(e[2], labels), stack)
        if k == "call":
            name, arguments = e[1], [go(a) for a in e[3]]
            if name in self.d.logic:
                return self.apply(name, e[2], arguments, labels, now, stack)
            if name in ("\\min", "\\max"):
                return ("cond", ("chain", [arguments[0], "<" if name == "\\min" else ">", arguments[1]]), *arguments)
            if name.startswith("\\") and now == "Pre":
                raise Unsupported(f"{name} before the call")
            return ("call", name, [], arguments)
        if k == "q":
            renamed, variables = dict(env), []
            for kind, v in e[2]:
                self.fresh += 1
                renamed[v] = ("id", f"{v}_{self.fresh}", [])
                variables.append((kind, f"{v}_{self.fresh}"))
            return ("q", e[1], variables, self.unfold(e[3], renamed, labels, now, stack))
        if k == "let":
            return self.unfold(e[3], {**env, e[1]: go(e[2])}, labels, now, stack)
        if k == "chain":
            return ("chain", [x if isinstance(x, str) else go(x) for x in e[1]])
        if k == "cast":
            return ("cast", e[1], go(e[2])) if e[1] != "integer" else go(e[2])
        return (k, *(go(x) if isinstance(x, tuple) else x for x in e[1:]))

    @staticmethod
    def label(name, labels):
        name = labels.get(name, name)
        return {"Old": "Pre", "Post": "Here"}.get(name, name)

    def apply(self, name, given, arguments, labels, now, stack):
        formal, parameters, body = self.d.logic[name]
        actual = [self.label(g, labels) for g in given]
        if not actual:
            actual = [now] * len(formal)
        inner = dict(zip(formal, actual))
        inner_now = actual[0] if len(actual) == 1 else now
        env = dict(zip(parameters, arguments))
        if name in stack:
            raise Unsupported("recursion")
        if self.calls(body, name):
            return self.sum(name, parameters, body, env, inner, inner_now, stack)
        return self.unfold(body, env, inner, inner_now, stack + (name,))

    def calls(self, e, name):
        return (e[0] in ("call", "id") and e[1] == name) or any(self.calls(x, name) for x in children(e))

    def sum(self, name, parameters, body, env, inner, now, stack):
        """f(.., n) = n <= 0 ? 0 : f(.., n - 1) + term(n)"""
        n = parameters[-1]
        if (body[0] == "cond" and show(body[1]) == f"({n} <= 0)" and body[2] == ("num", "0") and body[3][0] == "bin" and body[3][1] == "+"
                and body[3][2][:2] == ("call", name) and [show(a) for a in body[3][2][3]] == parameters[:-1] + [f"({n} - 1)"]
                and not self.calls(body[3][3], name)):
            self.fresh += 1
            k = f"k_{self.fresh}"
            term = self.unfold(body[3][3], {**env, n: ("id", k, [])}, inner, now, stack + (name,))
            return ("sum", k, ("num", "1"), env[n], term)
        raise Unsupported("recursion")

    # ---- guards in front ----

    def guard(self, e):
        if e[0] == "q":
            return self.quantifier(e)
        if e[0] == "chain":
            return ("chain", [x if isinstance(x, str) else self.guard(x) for x in e[1]])
        if e[0] == "call":
            return ("call", e[1], [], [self.guard(a) for a in e[3]])
        return (e[0], *(self.guard(x) if isinstance(x, tuple) else x for x in e[1:]))

    def quantifier(self, e):
        _, q, variables, body = e
        conditions, goal = [], body
        if q == "\\forall":
            while goal[0] == "bin" and goal[1] == "==>":
                conditions += conjuncts(goal[2])
                goal = goal[3]
        else:
            conditions, goal = conjuncts(goal), None
        bounds, order, left = {}, [], list(variables)
        while left:
            for kind, v in left:
                others = [w for _, w in left if w != v]
                b = self.bounds(v, conditions, others) or self.domain(v, body, others, conditions)
                if b:
                    bounds[v] = b
                    order.append((kind, v))
                    left.remove((kind, v))
                    break
            else:
                raise Unsupported("a quantifier without bounds")
        said = set()
        for _, v in order:
            low, below, high, upto = bounds[v]
            a, b = ("chain", [low, below, ("id", v, [])]), ("chain", [("id", v, []), upto, high])
            said |= {show(a), show(b), show(("chain", a[1] + b[1][1:]))}
        parts = [self.guard(c) for c in conditions if show(c) not in said] + ([self.guard(goal)] if goal else [])
        parts = parts or [("id", "\\true", [])]
        inner = conjoin(parts, "==>" if q == "\\forall" else "&&")
        for kind, v in reversed(order):
            low, below, high, upto = bounds[v]
            inner = ("guarded", q, kind, v, low, below, high, upto, inner)
        return inner

    @staticmethod
    def bounds(v, conditions, others):
        low = high = None
        for c in conditions:
            if c[0] != "chain":
                continue
            chain = c[1] if c[1][1] in ("<", "<=") else list(reversed(c[1]))
            flip = {">": "<", ">=": "<="} if chain is not c[1] else {}
            free = [not any(mentions(x, o) for o in others) for x in chain[::2]]
            for i in range(0, len(chain), 2):
                for side, step in (("low", -2), ("high", 2)):
                    j = i + step
                    while 0 <= j < len(chain) and not free[j // 2]:         # s in lo <= s < t < hi: up to hi
                        j += step
                    if not 0 <= j < len(chain):
                        continue
                    x, bound = chain[i], chain[j]
                    ops = [flip.get(o, o) for o in chain[min(i, j) + 1:max(i, j):2]]
                    if any(o not in ("<", "<=") for o in ops):
                        continue
                    op = "<" if "<" in ops else "<="
                    times = 1 if x == ("id", v, []) else None
                    if x[0] == "bin" and x[1] == "*" and ("id", v, []) in x[2:] and x[2] != x[3]:
                        times = x[3] if x[2] == ("id", v, []) else x[2]
                    if times is None or mentions(bound, v):
                        continue
                    scaled = bound if times == 1 else ("bin", "/", bound, times)
                    if side == "low" and low is None:
                        low = (scaled, op if times == 1 else "<=")
                    if side == "high" and high is None:
                        high = (scaled, op if times == 1 else "<=")
        return (*low, *high) if low and high else None

    def domain(self, v, body, others, conditions):
        """0 .. length of the table that v, or v / K, indexes."""
        found = []

        def look(e):
            if e[0] == "index":
                depth, base = 0, e[1]
                while base[0] == "index":
                    depth, base = depth + 1, base[1]
                name = base[3] if base[0] == "member" else base[1] if base[0] == "id" else None
                name = re.sub(f"__{self.function}$", "", name or "")
                sizes = self.d.dimensions.get(name, [])
                if depth < len(sizes):
                    if e[2] == ("id", v, []):
                        found.append(("num", f"({sizes[depth]})"))
                    elif e[2][0] == "bin" and e[2][1] == "/" and e[2][2] == ("id", v, []):
                        found.append(("bin", "*", ("num", f"({sizes[depth]})"), e[2][3]))
            for x in children(e):
                look(x)
        look(body)
        if not found or any(mentions(found[0], o) for o in others):
            return None
        self.narrowed = True
        return ("num", "0"), "<=", found[0], "<"
