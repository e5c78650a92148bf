"""Charts as SVG: their colours are those of the page, so that they follow its theme."""
import math
from frame import esc

MARKS = {"qedmalloc": "M-5.5,0 0,-5.5 5.5,0 0,5.5Z", "jemalloc": "M-4,-4 4,-4 4,4 -4,4Z", "mimalloc": "M0,-5 4.6,3.6 -4.6,3.6Z", "tcmalloc": "M-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0"}


def dots(values, allocators, title):
    """A row for each workload, a mark for each allocator, on a scale of powers of two. Marks differ in shape as well."""
    every = [x for v in values.values() for a, x in v.items() if a in allocators and x > 0]
    if not every:
        return ""
    low, high = max(-7, math.floor(math.log2(min(every)))), min(7, math.ceil(math.log2(max(every))))
    low, high = min(low, -1), max(high, 1)
    left, right, top, step = 132, 24, 46, 19
    width, height = 860, top + step * len(values) + 26
    x = lambda r: left + (max(low, min(high, math.log2(r))) - low) / (high - low) * (width - left - right)
    grid = "".join(f'<line x1="{x(2.0**k):.1f}" x2="{x(2.0**k):.1f}" y1="{top - 8}" y2="{height - 4}" class="{"one" if k == 0 else "grid"}"/>'
                   f'<text x="{x(2.0**k):.1f}" y="{height - 6}" text-anchor="middle" class="tick">{("%g" % 2.0**k) if k >= 0 else f"1/{2**-k}"}</text>' for k in range(low, high + 1))
    legend = "".join(f'<g transform="translate({left + 8 + i * 128},18)"><path d="{MARKS[a]}" class="a-{a}"/><text x="11" y="4">{a}</text></g>' for i, a in enumerate(allocators))
    lines = []
    for i, (w, v) in enumerate(values.items()):
        y = top + step * i + step / 2
        here = {a: v[a] for a in allocators if v.get(a, 0) > 0}
        span = f'<line x1="{x(min(here.values())):.1f}" x2="{x(max(here.values())):.1f}" y1="{y}" y2="{y}" class="span"/>' if here else ""
        marks = "".join(f'<path d="{MARKS[a]}" class="a-{a}" transform="translate({x(r):.1f},{y})"><title>{esc(w)}, {a}: {r:.2f}</title></path>' for a, r in reversed(here.items()))
        lines.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{esc(w)}</text>{span}{marks}')
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{esc(title)}"><svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{esc(title)}">'
            f'{grid}{legend}{"".join(lines)}</svg></div>')


def area(samples, series, title, width=860, height=170):
    """series: (name, class, value of a sample), the first one at the bottom, added up; against the sample's number."""
    tops = [[0.0] * len(samples)]
    for _, _, f in series:
        tops.append([b + f(s) for b, s in zip(tops[-1], samples)])
    most, right = max(max(t) for t in tops) or 1, 0
    unit = 2 ** max(0, math.floor(math.log2(most / 2**20 / 2))) * 2**20
    x = lambda i: i / max(1, len(samples) - 1) * (width - right)
    y = lambda b: height - 4 - b / most * (height - 24)
    paths = []
    for (name, kind, _), low, high in zip(series, tops, tops[1:]):
        there = " ".join(f"{x(i):.1f},{y(b):.1f}" for i, b in enumerate(high))
        back = " ".join(f"{x(i):.1f},{y(low[i]):.1f}" for i in range(len(low) - 1, -1, -1))
        paths.append(f'<polygon points="{there} {back}" class="{kind}"><title>{esc(name)}</title></polygon>')
    marks = [k * unit for k in range(1, 9) if k * unit <= most]
    grid = "".join(f'<line x1="0" x2="{width - right}" y1="{y(b):.1f}" y2="{y(b):.1f}" class="grid"/>' for b in marks)
    labels = "".join(f'<span style="top:{100 * y(b) / height:.1f}%">{b / 2**20:g} MiB</span>' for b in marks)
    return (f'<div class="area"><svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" aria-label="{esc(title)}">{"".join(paths)}{grid}'
            f'<line class="now" x1="0" x2="0" y1="8" y2="{height - 4}" data-width="{width - right}"/></svg>{labels}</div>')
