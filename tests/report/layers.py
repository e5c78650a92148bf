"""The layers as a picture, drawn from the #include lines of src/."""
import re
from frame import ROOT, esc

FLOORS = ("api", "tcache", "blocks", "pages", "ds", "math", "platform")
SAYS = {"api": "pointers and errno", "tcache": "what a thread has ready", "blocks": "who owns an address", "pages": "runs of pages", "ds": "structures linked by index",
        "math": "pure functions", "platform": "the trusted base"}


def modules():
    """({module: [files]}, {module: modules that it includes}), a module being FOLDER/STEM."""
    files, uses = {}, {}
    for floor in FLOORS:
        for p in sorted((ROOT / "src" / floor).glob("*.[ch]")):
            name = f"{floor}/{p.stem}" if p.stem not in ("os_linux", "os_fake") else "platform/os"
            files.setdefault(name, []).append(str(p.relative_to(ROOT)))
            for m in re.finditer(r'^#include "(\w+)/(\w+)\.h"', p.read_text(), re.M):
                if m[1] in FLOORS and f"{m[1]}/{m[2]}" != name:
                    uses.setdefault(name, set()).add(f"{m[1]}/{m[2]}")
    return files, uses


def picture(site, files, uses, proofs):
    left, width, y, places, bands = 150, 1120, 14, {}, []
    for floor in FLOORS:
        x, top = left + 14, y
        y += 14
        names = [n for n in files if n.startswith(floor + "/")]
        wide = {n: 7.6 * len(n.split("/")[1]) + 22 for n in names}
        gap = max(10, min(60, (width - 14 - x - sum(wide.values())) / max(1, len(names) - 1)))
        for name in names:
            if x + wide[name] > width - 10:
                x, y = left + 14, y + 40
            places[name] = x, y, wide[name]
            x += wide[name] + gap
        y += 44
        trusted = " trusted" if floor == "platform" else ""
        bands.append(f'<rect x="0" y="{top}" width="{width}" height="{y - top}" rx="8" class="band{trusted}"/><text x="16" y="{top + 32}" class="floor">{floor}/</text><text x="16" y="{top + 50}" class="says">{SAYS[floor]}</text>')
        y += 18
    lines = []
    for a, targets in uses.items():
        for b in sorted(targets):
            if b in places:
                ax, ay, aw = places[a]
                bx, by, bw = places[b]
                x1, x2, y1, y2 = ax + aw / 2, bx + bw / 2, ay + 30, by
                if by <= ay:            # on the same line of its floor
                    y1, y2 = ay, by
                    path = f"M{x1:.0f},{y1}C{x1:.0f},{y1 - 12} {x2:.0f},{y2 - 12} {x2:.0f},{y2}"
                else:
                    path = f"M{x1:.0f},{y1}C{x1:.0f},{(y1 + y2) / 2:.0f} {x2:.0f},{(y1 + y2) / 2:.0f} {x2:.0f},{y2}"
                lines.append(f'<path d="{path}" data-a="{a}" data-b="{b}" class="edge"/>')
    chips = []
    for name, (x, y0, w) in places.items():
        site.wanted[files[name][-1]] = True
        chips.append(f'<a href="source/{files[name][-1]}.html" class="chip" data-m="{name}"><rect x="{x:.0f}" y="{y0}" width="{w:.0f}" height="30" rx="6"/><text x="{x + w / 2:.0f}" y="{y0 + 20}" text-anchor="middle">{name.split("/")[1]}</text></a>')
    return f'<svg id="layers" viewBox="0 0 {width} {y}" role="group" aria-label="modules by floor; each is a link to its source">{"".join(bands)}{"".join(lines)}{"".join(chips)}</svg>'


def page(site, proofs):
    files, uses = modules()
    count = sum(len(t) for t in uses.values())
    rows = "".join(f"<li><b>{floor}/</b> {esc(SAYS[floor])}: " + ", ".join(site.source(fs[-1], text=esc(n.split("/")[1])) for n, fs in files.items() if n.startswith(floor + "/")) + "</li>" for floor in FLOORS)
    body = (f'<h1>Layers</h1><p class=lead>{len(files)} modules on {len(FLOORS)} floors. A file includes only files of its own floor and of the floors below; the {count} lines are the includes. '
            f'What stands on the lowest floor is believed, and all above it is proven but for what <a href="claims.html">Claims</a> names.</p>'
            f'<p id=told class=told aria-live=polite>Point at a module, or reach it with the Tab key, to see what it rests on and what rests on it.</p>'
            f'<div class="scroll" tabindex="0" role="region" aria-label="picture of the layers">{picture(site, files, uses, proofs)}</div>'
            f'<p class=legend><span class=down>blue: it rests on</span> · <span class=up>orange: rests on it</span></p><details><summary>The same as a list</summary><ul>{rows}</ul></details>'
            f'<p>The words are explained in {site.source("src/README.md")}.</p>')
    site.page("layers", "Layers", body)
