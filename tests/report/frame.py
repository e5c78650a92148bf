"""What all pages share: the frame, escaping, links into the sources, tables, and text in Markdown's inline form."""
import html, re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = [("index", "Overview"), ("proofs", "Proofs"), ("claims", "Claims"), ("trusted", "Trusted base"), ("faults", "Faults"),
         ("coverage", "Coverage"), ("speed", "Speed"), ("layers", "Layers"), ("heap", "Heap map"), ("sources", "Sources")]
FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – qedmalloc</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{up}style.css">
<script src="{up}page.js"></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<a class="name" href="{up}index.html">qed<b>malloc</b></a>
<nav aria-label="Pages">{nav}</nav>
<button id="theme" type="button" title="Light, dark, or as the system says">Theme: system</button>
</header>
<main id="main">
{body}
</main>
<footer>{footer}</footer>
</body>
</html>
"""

esc = html.escape


class Site:
    def __init__(self, out, footer):
        self.out, self.footer, self.wanted = out, footer, {}
        self.sources = None             # index of the sources (sources.py)

    def page(self, name, title, body, up=""):
        nav = "".join(f'<a href="{up}{n}.html"{" aria-current=page" if n == name else ""}>{t}</a>' for n, t in PAGES)
        target = self.out / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(FRAME.format(title=esc(title), up=up, nav=nav, body=body, footer=self.footer))

    def source(self, path, line=None, text=None, up=""):
        """A link to a line of a file of the tree; the file's page is made at the end."""
        self.wanted[path] = True
        anchor = f"#L{line}" if line else ""
        return f'<a class="src" href="{up}source/{esc(path)}.html{anchor}">{text or esc(path + (f":{line}" if line else ""))}</a>'

    def path(self, word):
        """A link where the word is a file of the tree (`a.h` of src too), or None."""
        plain, _, line = word.partition(":")
        if (ROOT / plain).is_file() and "/" in plain:
            return self.source(plain, line if line.isdigit() else None, f"<code>{esc(word)}</code>")
        return None

    def code(self, word):
        """A word in backquotes: a file, a function, a predicate, or just code."""
        link = self.path(word)
        if not link and self.sources and (at := self.sources.place(word)):
            link = self.source(*at, text=f"<code>{esc(word)}</code>")
        return link or f"<code>{esc(word)}</code>"

    def inline(self, text):
        """`code`, **bold**, [links](to) of a document of the tree; relative links lead to the file's page."""
        done = []
        for part in re.split(r"(`[^`]+`|\[[^\]]+\]\([^)]+\)|\*\*[^*]+\*\*)", text):
            if part.startswith("`"):
                done.append(self.code(part[1:-1]))
            elif part.startswith("**"):
                done.append(f"<strong>{self.inline(part[2:-2])}</strong>")
            elif m := re.fullmatch(r"\[([^\]]+)\]\(([^)]+)\)", part):
                target = m[2].split("#")[0].lstrip("./")
                found = next((t for t in (target, f"proofs/{target}", f"spec/{target}") if (ROOT / t).is_file()), None)
                done.append(self.source(found, text=esc(m[1])) if found else esc(m[1]))
            else:
                done.append(esc(part))
        return "".join(done)


def missing(command, what="this"):
    """What has not been run is said so."""
    return f'<p class="missing"><strong>Not run here.</strong> <code>{esc(command)}</code> shows {what}.</p>'


def table(columns, rows, kinds="", name=""):
    """kinds: a letter a column: n number, w wide text; rows of HTML. A caption for readers who hear it. Where there is wide text, a narrow screen
    shows the cells of a row below each other, and each number with the name of its column."""
    kind = lambda i: {"n": " class=n", "w": " class=w"}.get(kinds[i:i + 1], "")
    name_of = lambda i: f' data-column="{esc(columns[i])}"' if "w" in kinds and kinds[i:i + 1] == "n" else ""
    head = "".join(f"<th scope=col{kind(i)}>{c}</th>" for i, c in enumerate(columns))
    body = "".join("<tr>" + "".join(f"<td{kind(i)}{name_of(i)}>{c}</td>" for i, c in enumerate(r)) + "</tr>" for r in rows)
    caption = f"<caption>{name}</caption>" if name else ""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{esc(re.sub("<[^>]*>", "", name) or "table")}"><table{" class=stacks" if "w" in kinds else ""}>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def tile(figure, label, note, link, absent=""):
    """A figure of the overview, or that it is not there."""
    shown = f"<b class=none>not run here</b><span>{label}</span><em><code>{esc(absent)}</code></em>" if figure is None else f"<b>{figure}</b><span>{label}</span><em>{note}</em>"
    return f'<a class="tile" href="{link}">{shown}</a>'


def bar(share, kind=""):
    return f'<span class="bar {kind}"><i style="width:{100 * max(0, min(1, share)):.1f}%"></i></span>'


def number(n):
    return f"{n:,}".replace(",", "\u202f")
