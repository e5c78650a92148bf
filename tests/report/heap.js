// The heap map: cells on a canvas, a slider over the samples, and what lies under the pointer.
"use strict";
(() => {
  const $ = id => document.getElementById(id);
  const canvas = $("map"), when = $("when"), pen = canvas.getContext("2d");
  const KINDS = ["", "retained", "muzzy", "dirty", "slab", "large block"];
  let heap, moments, at = 0, chosen = -1, columns, cell, timer = null, colour = {};

  const mib = b => (b / 1048576).toFixed(b < 10485760 ? 2 : 1) + " MiB";
  const bytes = b => b < 1024 ? b + " B" : b < 1048576 ? +(b / 1024).toFixed(1) + " KiB" : mib(b);
  const element = (tag, text, kind) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (kind) e.className = kind; return e; };

  // Each moment as a list of extents by place: what changed, upon what was.
  function unpack(h) {
    const now = new Map(), all = [];
    for (const flat of h.changes) {
      for (let i = 0; i < flat.length; i += 6) {
        if (flat[i + 1] === 0) now.delete(flat[i]);
        else now.set(flat[i], { at: flat[i], npages: flat[i + 1], kind: flat[i + 2], szind: flat[i + 3], live: flat[i + 4], out: flat[i + 5] });
      }
      all.push([...now.values()].sort((a, b) => a.at - b.at));
    }
    return all;
  }

  function colours() {
    const probe = document.body.appendChild(document.createElement("i"));
    const read = name => { probe.style.color = "var(--" + name + ")"; return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number); };
    const low = read("slab-low"), high = read("slab-high"), ramp = [];
    for (let i = 0; i <= 16; i++) ramp.push("rgb(" + low.map((c, k) => Math.round(c + (high[k] - c) * i / 16)).join() + ")");
    colour = { ramp, line: "rgb(" + read("card").join() + ")", mark: "rgb(" + read("bad").join() + ")" };
    for (const name of ["retained", "muzzy", "dirty", "large", "soft"]) colour[name] = "rgb(" + read(name).join() + ")";
    probe.remove();
  }

  const fill = e => e.kind === 4 ? colour.ramp[Math.round(16 * e.live / heap.classes[e.szind][1])] : colour[["", "retained", "muzzy", "dirty", "", "large"][e.kind]];

  function draw() {
    const width = canvas.parentNode.clientWidth, ratio = devicePixelRatio || 1;
    const most = Math.min(720, innerHeight * 0.8);
    for (columns = 32; columns < 1024; columns *= 2) {
      cell = width / columns;
      if (Math.ceil(heap.cells / columns) * cell <= most || cell < 3.5) break;
    }
    const rows = Math.ceil(heap.cells / columns);
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(rows * cell * ratio);
    canvas.style.height = rows * cell + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, rows * cell);
    pen.fillStyle = colour.soft;
    spans({ at: 0, npages: heap.cells }, (x, y, n) => pen.fillRect(x * cell, y * cell, n * cell, cell));
    for (const e of moments[at]) {
      pen.fillStyle = fill(e);
      spans(e, (x, y, n) => pen.fillRect(x * cell, y * cell, n * cell + 0.3, cell - (cell > 5 ? 1 : 0.4)));
      pen.fillStyle = colour.line;
      pen.fillRect(e.at % columns * cell - 0.4, Math.floor(e.at / columns) * cell, 0.9, cell);
    }
    const e = extent();
    if (e) { pen.strokeStyle = colour.mark; pen.lineWidth = 2.5; spans(e, (x, y, n) => pen.strokeRect(x * cell, y * cell, n * cell, cell - 0.5)); }
  }

  function spans(e, each) {
    for (let from = e.at, left = e.npages; left > 0;) {
      const n = Math.min(left, columns - from % columns);
      each(from % columns, Math.floor(from / columns), n);
      from += n; left -= n;
    }
  }

  const extent = () => chosen < 0 ? undefined : moments[at].find(e => e.at <= chosen && chosen < e.at + e.npages);

  function address(place) {
    for (const [first, n] of heap.areas) { if (place < n) return "0x" + ((first + place) * heap.page).toString(16); place -= n; }
    return "?";
  }

  function tell() {
    const e = extent();
    if (chosen < 0) return;
    if (!e) { $("here").textContent = "Not mapped at this moment."; return; }
    const length = e.npages + (e.npages === 1 ? " page" : " pages") + " (" + bytes(e.npages * heap.page) + ")";
    let text = address(e.at) + ": " + KINDS[e.kind] + ", " + length;
    if (e.kind === 4) {
      const [size, regions] = heap.classes[e.szind];
      text += ", regions of " + size + " bytes: " + e.live + " of " + regions + " live" + (e.out > e.live ? ", " + (e.out - e.live) + " in the thread's cache" : "");
    } else if (e.kind === 5) text += e.live ? ", live" : ", in the thread's cache";
    $("here").textContent = text + ".";
  }

  function figures() {
    const s = Object.fromEntries(heap.figures.map((n, i) => [n, heap.samples[at][i]]));
    $("moment").textContent = (s.ms / 1000).toFixed(2) + " s · call " + s.call.toLocaleString("en");
    when.setAttribute("aria-valuetext", $("moment").textContent);
    const list = $("figures");
    list.replaceChildren();
    for (const [name, value] of [["asked for", s.asked], ["in live blocks", s.allocated], ["in the thread's cache", s.cached], ["active pages", s.active], ["dirty", s.dirty], ["muzzy", s.muzzy], ["retained", s.retained]]) {
      const item = element("div");
      item.append(element("dt", name), element("dd", mib(value)));
      list.append(item);
    }
    const by = new Map();
    for (const e of moments[at]) if (e.kind === 4) {
      const c = by.get(e.szind) || { slabs: 0, live: 0, out: 0 };
      c.slabs++; c.live += e.live; c.out += e.out;
      by.set(e.szind, c);
    }
    const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const name of ["bytes", "slabs", "live", "in cache", "free in slabs", "fill"]) head.append(Object.assign(element("th", name, name === "fill" ? "" : "n"), { scope: "col" }));
    for (const [szind, c] of [...by].sort((a, b) => a[0] - b[0])) {
      const [size, regions] = heap.classes[szind], row = body.insertRow();
      for (const n of [size, c.slabs, c.live, c.out - c.live, c.slabs * regions - c.out]) row.append(element("td", n.toLocaleString("en"), "n"));
      const bar = element("span", undefined, "bar"), inner = bar.appendChild(element("i")), place = row.insertCell();
      inner.style.width = 100 * c.live / (c.slabs * regions) + "%";
      place.append(bar);
    }
    const scroll = element("div", undefined, "scroll");
    scroll.tabIndex = 0; scroll.setAttribute("role", "region"); scroll.setAttribute("aria-label", "slabs by size class");
    scroll.append(table);
    $("classes").replaceChildren(scroll);
    for (const line of document.querySelectorAll(".over:not([hidden]) .now")) {
      const x = at / (moments.length - 1) * line.dataset.width;
      line.setAttribute("x1", x); line.setAttribute("x2", x);
    }
  }

  function go(to) { at = Math.max(0, Math.min(moments.length - 1, to)); when.value = at; draw(); figures(); tell(); }

  function choose(i) {
    heap = HEAP[i]; moments = unpack(heap); chosen = -1;
    when.max = moments.length - 1;
    for (const b of document.querySelectorAll("button[data-map]")) b.setAttribute("aria-pressed", b.dataset.map == i);
    for (const c of document.querySelectorAll(".over")) c.hidden = c.dataset.map != i;
    // It begins where there is most to see: when the program last had half of its peak.
    const live = heap.samples.map(s => s[heap.figures.indexOf("allocated")]), peak = Math.max(...live);
    go(live.findLastIndex(b => b >= peak / 2));
  }

  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => at + 1 < moments.length ? go(at + 1) : play(false), 120) : null;
    $("play").textContent = on ? "Pause" : "Play";
  }

  const under = event => {
    const box = canvas.getBoundingClientRect();
    return Math.floor((event.clientY - box.top) / cell) * columns + Math.min(columns - 1, Math.max(0, Math.floor((event.clientX - box.left) / cell)));
  };
  canvas.addEventListener("pointermove", e => { const c = under(e); if (c !== chosen) { chosen = c; draw(); tell(); } });
  canvas.addEventListener("pointerdown", e => { chosen = under(e); draw(); tell(); });
  canvas.addEventListener("keydown", event => {
    const list = moments[at], e = extent(), i = e ? list.indexOf(e) : -1;
    const near = place => { let best = list[0]; for (const x of list) if (x.at <= place) best = x; return best; };
    const to = { ArrowRight: () => list[Math.min(list.length - 1, i + 1)], ArrowLeft: () => list[Math.max(0, i - 1)], Home: () => list[0], End: () => list[list.length - 1],
      ArrowDown: () => near((e ? e.at : 0) + columns), ArrowUp: () => near(Math.max(0, (e ? e.at : 0) - columns)) }[event.key];
    if (to) { event.preventDefault(); chosen = to().at; draw(); tell(); }
  });
  when.addEventListener("input", () => { play(false); go(+when.value); });
  $("play").addEventListener("click", () => { if (timer === null && at + 1 === moments.length) go(0); play(timer === null); });
  for (const b of document.querySelectorAll("button[data-map]")) b.addEventListener("click", () => choose(+b.dataset.map));
  for (const c of document.querySelectorAll(".over")) c.addEventListener("click", e => { const box = c.getBoundingClientRect(); play(false); go(Math.round((e.clientX - box.left) / box.width * (moments.length - 1))); });
  document.addEventListener("theme", () => { colours(); draw(); });
  addEventListener("resize", draw);
  colours();
  choose(0);
})();
