// The theme, the search for a function, and the picture of the layers.
"use strict";
const THEMES = ["system", "light", "dark"];
let theme = "system";
try { theme = localStorage.getItem("theme") || "system"; } catch (e) { /* no storage for files here */ }

function show_theme() {
  document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
  const button = document.getElementById("theme");
  if (button) button.textContent = "Theme: " + theme;
  document.dispatchEvent(new Event("theme"));
}
show_theme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("theme")));

document.addEventListener("DOMContentLoaded", () => {
  show_theme();
  document.getElementById("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try { localStorage.setItem("theme", theme); } catch (e) { /* as above */ }
    show_theme();
  });
  // On a narrow screen the pages' names scroll sideways: the one in use comes into view.
  const current = document.querySelector("nav [aria-current]");
  if (current) current.parentNode.scrollLeft = current.offsetLeft - current.parentNode.offsetLeft - 40;

  const find = document.getElementById("find");
  if (find) find.addEventListener("input", () => {
    const text = find.value.trim().toLowerCase();
    for (const module of document.querySelectorAll("details.module")) {
      let some = !text;
      for (const row of module.querySelectorAll("tbody tr")) {
        row.hidden = text !== "" && !row.cells[0].textContent.toLowerCase().includes(text);
        some = some || !row.hidden;
      }
      module.hidden = !some;
      module.open = text !== "" && some;
    }
  });

  const layers = document.getElementById("layers"), told = document.getElementById("told");
  if (layers) {
    const edges = [...layers.querySelectorAll(".edge")], chips = [...layers.querySelectorAll(".chip")];
    const show = name => {
      const down = edges.filter(e => e.dataset.a === name), up = edges.filter(e => e.dataset.b === name);
      const below = down.map(e => e.dataset.b), above = up.map(e => e.dataset.a);
      layers.classList.toggle("asked", name !== null);
      for (const e of edges) { e.classList.toggle("down", e.dataset.a === name); e.classList.toggle("up", e.dataset.b === name); }
      for (const c of chips) {
        c.classList.toggle("self", c.dataset.m === name);
        c.classList.toggle("down", below.includes(c.dataset.m));
        c.classList.toggle("up", above.includes(c.dataset.m));
      }
      if (name !== null) told.textContent = name + " rests on " + (below.join(", ") || "nothing") + ". On it rest " + (above.join(", ") || "only programs") + ".";
    };
    for (const c of chips) {
      c.addEventListener("mouseenter", () => show(c.dataset.m));
      c.addEventListener("focus", () => show(c.dataset.m));
      c.addEventListener("mouseleave", () => show(null));
      c.addEventListener("blur", () => show(null));
    }
  }
});
