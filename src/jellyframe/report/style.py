"""The style sheet and the script of report pages."""

from __future__ import annotations

_LIGHT = """
  color-scheme: light;
  --page: #f6f7f9; --card: #ffffff; --line: #e3e6ea; --grid: #eceef1; --track: #eef0f3;
  --text: #16191d; --soft: #59616b; --accent: #2563c9;
  --c1: #3b76d9; --c2: #e2803a; --c3: #1f9d7a; --c4: #8b62cf;
  --c5: #cf4f86; --c6: #b9960f; --c7: #4a9db5; --c8: #b4bac3; --c9: #7d8b2f;
  --o1: #ffffff; --o2: #241203; --o3: #ffffff; --o4: #ffffff;
  --o5: #ffffff; --o6: #1d1700; --o7: #06222a; --o8: #16191d; --o9: #ffffff;
"""
_DARK = """
  color-scheme: dark;
  --page: #101317; --card: #181c22; --line: #2a3038; --grid: #262c33; --track: #252b33;
  --text: #e9ecf0; --soft: #9aa4b0; --accent: #7fb0ff;
  --c1: #6a9df0; --c2: #f0985a; --c3: #3fbf98; --c4: #a98be6;
  --c5: #e578a6; --c6: #d6b640; --c7: #6cbcd4; --c8: #5c6570; --c9: #a5b552;
  --o1: #071226; --o2: #241203; --o3: #02201a; --o4: #140a2a;
  --o5: #2a0716; --o6: #1d1700; --o7: #06222a; --o8: #f2f4f7; --o9: #171a04;
"""
# The system's colour scheme, until the reader chooses one.
_THEMES = f"""
:root {{{_LIGHT}}}
:root[data-theme="dark"] {{{_DARK}}}
@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{{_DARK}}} }}
"""
_SERIES = "".join(
    f".series-{nr} {{ fill: var(--c{nr}); }} svg text.on-{nr} {{ fill: var(--o{nr}); }}\n" for nr in range(1, 10)
)

_LAYOUT = """
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
main, header, footer { max-width: 1180px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 30px; display: flex; gap: 16px; align-items: flex-start; justify-content: space-between; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; letter-spacing: -0.01em; }
h2 { font-size: 16px; margin: 0; }
p { margin: 4px 0 0; }
.soft, figcaption p, footer { color: var(--soft); }
.tiles { display: grid; gap: 14px; margin: 24px 0 14px; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
.tile, figure { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.tile { padding: 14px 16px; }
.tile dt { color: var(--soft); font-size: 13px; }
.tile dd { margin: 2px 0 0; font-size: 23px; font-weight: 650; letter-spacing: -0.01em; line-height: 1.25; }
.tile small { display: block; font-size: 13px; font-weight: 400; color: var(--soft); letter-spacing: 0; }
.figures { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
figure { margin: 0; padding: 18px 20px; min-width: 0; display: flex; flex-direction: column; }
figure.wide { grid-column: 1 / -1; }
figcaption { margin-bottom: 14px; }
figcaption p { font-size: 13.5px; }
.plot { display: flex; align-items: flex-start; min-width: 0; }
svg { display: block; }
svg.axis { flex: none; }
svg.area { overflow: visible; }
.plot svg.area { min-width: 0; flex: 1; }
svg text { fill: var(--text); font-size: 13px; }
svg text.value { font-weight: 600; }
svg text.tick { fill: var(--soft); font-size: 12px; }
svg text.inside { font-size: 11.5px; font-weight: 600; }
.track { fill: var(--track); }
.grid { stroke: var(--grid); }
.base { stroke: var(--soft); stroke-opacity: 0.6; }
.hit { fill: transparent; }
g[data-tip]:hover .hit { fill: var(--track); }
.parted { stroke: var(--card); stroke-width: 1.5; }
.axis-title { color: var(--soft); font-size: 12px; margin: 0 0 2px; }
.axis-title.below { text-align: right; margin: 2px 0 0; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 12px 0 0; padding: 0; list-style: none; }
.legend { font-size: 13px; }
.facts { display: grid; gap: 0 36px; margin: 0; }
.facts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 19em), 1fr)); }
.facts div { display: flex; justify-content: space-between; gap: 16px; padding: 6px 0; }
.facts div { border-bottom: 1px solid var(--line); }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.legend li { display: flex; align-items: center; gap: 6px; }
details { margin-top: auto; padding-top: 12px; font-size: 13.5px; }
summary { cursor: pointer; color: var(--accent); width: max-content; }
.scroll { overflow-x: auto; max-height: 420px; overflow-y: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: 5px 0 5px 16px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; }
button {
  flex: none; font: inherit; font-size: 13px; color: var(--soft); background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; cursor: pointer;
}
button:hover { color: var(--text); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#tip {
  position: fixed; z-index: 9; pointer-events: none; max-width: min(420px, 90vw); padding: 6px 10px; border-radius: 8px;
  background: var(--text); color: var(--page); font-size: 13px; overflow-wrap: anywhere;
}
#tip[hidden] { display: none; }
footer { padding-top: 18px; padding-bottom: 34px; font-size: 13px; }
@media print { button { display: none; } body { background: none; } figure { break-inside: avoid; } }
"""

CSS = _THEMES + _LAYOUT + _SERIES

SCRIPT = """
const root = document.documentElement, tip = document.getElementById("tip");
document.getElementById("theme").addEventListener("click", () => {
  const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
});
document.addEventListener("pointermove", event => {
  const marked = event.target.closest ? event.target.closest("[data-tip]") : null;
  tip.hidden = !marked;
  if (!marked) return;
  tip.textContent = marked.dataset.tip;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(8, event.clientY - box.height - 12) + "px";
});
"""
