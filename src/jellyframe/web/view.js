"use strict";
// The state is in the fragment of the URL, so that the browser's back button works; the token stays in the query. Data is
// always set as text, never as markup; only the plots are markup, made and escaped by the server.
const token = new URLSearchParams(location.search).get("token") || "";
const byId = id => document.getElementById(id);
const POSITIONS = ["s", "p", "o", "g"];
const NAMES = {s: "subject", p: "predicate", o: "object", g: "graph"};
const TABS = ["statements", "frames", "plots", "options"];
let files = [], shown = null, search = 0;

const make = (name, settings = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(settings)) {
    if (key === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else if (key in element && key !== "list") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
};
// Characters that are invisible, or change the direction of text, are shown as escapes.
const visible = text => text.replace(
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  sign => sign === "\n" ? "↵ " : sign === "\t" ? "⇥ " : `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
const digits = number => number.toLocaleString("en").replaceAll(",", "\u202f");
const bytes = number => {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (number < 1000) return `${number < 10 && unit !== "B" ? number.toFixed(1) : Math.round(number)}\u202f${unit}`;
    number /= 1000;
  }
  return `${number.toFixed(1)}\u202fTB`;
};

async function ask(path, parameters) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters || {}))
    if (value !== null && value !== undefined && value !== "") query.set(key, value);
  const answer = await fetch(`${path}?${query}`, {headers: {"X-Token": token}});
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

// ---- the URL ----

const state = () => {
  const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return {tab: TABS.includes(found.tab) ? found.tab : "statements", file: Number(found.file) || 0, ...found};
};
function go(changes, {keep = []} = {}) {
  const now = state(), next = {tab: now.tab, file: now.file};
  for (const key of keep) if (now[key] !== undefined) next[key] = now[key];
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({...next, ...changes}))
    if (value !== null && value !== undefined && value !== "") query.set(key, value);
  if (`#${query}` === location.hash) show(); else location.hash = query;
}
const place = found => ({anchor: found[0], skip: found[1]});

// ---- statements ----

function termCell(term, position, row) {
  const cell = make("td");
  if (!term) return cell;
  const words = term.kind === "literal" ? `“${visible(term.value)}”` : term.kind === "default" ? "default graph" : visible(term.value);
  cell.append(make("button", {
    type: "button", className: `term ${term.kind}`, textContent: words, title: visible(term.text || words),
    "aria-label": `${NAMES[position]} ${words}${term.detail ? ` ${term.detail}` : ""}: follow`,
    disabled: term.text === null, on: {click: () => follow(term, position)},
  }));
  if (term.detail) cell.append(make("span", {className: "detail", textContent: term.detail}));
  if (term.cut) cell.append(make("button", {
    type: "button", className: "more", textContent: `all ${digits(term.length)} characters`,
    on: {click: () => showWhole(row, POSITIONS.indexOf(position))},
  }));
  return cell;
}
function follow(term, position) {
  const where = position === "p" || position === "g" ? position : term.kind === "literal" || term.kind === "triple" ? "o" : "s";
  go({tab: "statements", [where]: term.text, term: term.text});
}
async function showWhole(row, position) {
  try {
    const found = await ask("/api/term", {file: state().file, ...place(row.place), position});
    byId("whole").querySelector("pre").textContent = found.text;
    byId("whole").showModal();
  } catch (error) { say(error.message, true); }
}
function say(words, isError = false) {
  byId("status").textContent = words;
  byId("status").className = isError ? "error" : "";
}
function drawFollow(now) {
  const box = byId("follow");
  box.hidden = !now.term;
  if (!now.term) return;
  const file = files[now.file];
  box.replaceChildren(make("span", {textContent: "Statements with"}), make("b", {textContent: visible(now.term)}), make("span", {textContent: "as"}));
  for (const position of POSITIONS.filter(one => one !== "g" || file.graphs))
    box.append(make("button", {
      type: "button", textContent: NAMES[position], "aria-pressed": String(now[position] === now.term),
      on: {click: () => go({[position]: now.term, term: now.term})},
    }));
}
function drawRows(rows, file) {
  const columns = file.graphs ? POSITIONS : POSITIONS.slice(0, 3);
  const widths = file.graphs ? ["110px", "29%", "19%", "30%", "22%"] : ["110px", "34%", "23%", "43%"];
  const table = byId("table");
  table.querySelector("thead").replaceChildren(make("tr", {},
    make("th", {scope: "col", className: "n", textContent: file.indexed ? "No." : "Row", style: `width:${widths[0]}`}),
    ...columns.map((one, at) => make("th", {scope: "col", textContent: NAMES[one], style: `width:${widths[at + 1]}`}))));
  table.querySelector("tbody").replaceChildren(...rows.map(row => make("tr", {},
    make("td", {
      className: "n", textContent: row.number === null ? `+${digits(row.place[1])}` : digits(row.number + 1),
      title: `frame ${row.frame} and statement ${row.place[1]} after the restart point at byte ${row.place[0]}`,
    }),
    ...columns.map((one, at) => termCell(row.terms[at] || (one === "g" ? {kind: "default", value: "", text: "default"} : null), one, row)))));
  if (!rows.length) table.querySelector("tbody").append(make("tr", {}, make("td", {colSpan: columns.length + 1, className: "empty", textContent: "No statements here."})));
}
async function showStatements(now) {
  const file = files[now.file], mine = ++search;
  const filters = Object.fromEntries(POSITIONS.map(one => [one, now[one] || ""]));
  const isFiltered = POSITIONS.some(one => filters[one]);
  for (const one of POSITIONS) byId("filters").elements[one].value = filters[one];
  document.querySelector("[data-graph]").hidden = !file.graphs;
  byId("goto").hidden = !file.indexed;
  byId("jump").disabled = !file.jumps || isFiltered;
  drawFollow(now);
  say(isFiltered ? "Searching…" : "Reading…");
  let rows = [], at = {anchor: now.anchor, skip: now.skip, at: now.at}, page, previous = null;
  try {
    do {
      page = await ask("/api/page", {file: now.file, ...at, ...filters, rows: 100 - rows.length});
      if (mine !== search) return;
      previous = previous || page.previous;
      rows = rows.concat(page.rows);
      at = page.next && {...place(page.next)};
      drawRows(rows, file);
      if (!page.full && at) { say(`Searching… ${Math.round(page.reached * 100)}\u202f%, ${rows.length} found`); byId("stop").hidden = false; }
    } while (!page.full && at);
  } catch (error) {
    if (mine !== search) return;
    drawRows(rows, file);
    say(error.message, true);
    page = page || {reached: 0};
    at = null;
  }
  byId("stop").hidden = true;
  shown = {next: at, previous: previous && place(previous)};
  byId("next").disabled = !shown.next;
  byId("previous").disabled = isFiltered ? !now.anchor && !now.skip : !shown.previous;
  byId("first").disabled = !isFiltered && !shown.previous;
  byId("last").disabled = isFiltered || !shown.next;
  byId("jump").value = Math.round(page.reached * 1000);
  if (byId("status").className !== "error") {
    const last = rows[rows.length - 1], first = rows[0];
    say(!rows.length ? (isFiltered ? "Nothing found." : "No statements.")
      : first.number !== null && !isFiltered
        ? `${digits(first.number + 1)} to ${digits(last.number + 1)}${file.statements ? ` of ${digits(file.statements)}` : ""}`
        : `${rows.length} statements, up to ${Math.round(page.reached * 100)}\u202f% of the file`);
  }
  document.querySelector(".wide-table").scrollTop = 0;
}
const filtersNow = () => Object.fromEntries(POSITIONS.map(one => [one, byId("filters").elements[one].value.trim()]));
const turn = {
  first: () => go({}, {keep: [...POSITIONS, "term"]}),
  last: () => go({at: "last"}),
  next: () => shown && shown.next && go(shown.next, {keep: [...POSITIONS, "term"]}),
  previous: () => {
    if (shown && shown.previous) go(shown.previous, {keep: [...POSITIONS, "term"]});
    else if (!byId("previous").disabled) history.back();
  },
};

// ---- frames ----

async function showFrames(now) {
  const panel = byId("frames"), file = files[now.file];
  panel.setAttribute("aria-busy", "true");
  try {
    const list = await ask("/api/frames", {file: now.file, anchor: now.anchor || 0, at: now.at, first: now.first || 0});
    const first = Number(now.first) || 0;
    const button = (words, changes, disabled) => make("button", {type: "button", textContent: words, disabled, on: {click: () => go(changes)}});
    const rows = list.frames.map(frame => make("tr", {},
      make("td", {className: "n", textContent: digits(frame.number)}),
      make("td", {className: "n", textContent: digits(frame.offset)}), make("td", {className: "n", textContent: bytes(frame.size)}),
      make("td", {className: "n", textContent: digits(frame.rows)}), make("td", {className: "n", textContent: digits(frame.statements)}),
      make("td", {className: "n", textContent: frame.entries.map(digits).join(" · ")}),
      make("td", {textContent: Object.entries(frame.metadata).map(([key, value]) => visible(`${key}: ${value}`)).join(", ")}),
      make("td", {}, make("button", {
        type: "button", className: "term iri", textContent: "lookup tables",
        "aria-label": `Lookup tables after frame ${frame.number}`, on: {click: () => showLookups(now.file, list.anchor, frame.number)},
      }))));
    const heads = ["frame", "byte", "size", "rows", "statements", "names · prefixes · datatypes", "metadata", ""];
    panel.replaceChildren(
      make("div", {className: "pager", role: "group", "aria-label": "Frames"},
        button("« First", {}, list.before === null && first === 0),
        button("‹ Restart point before", {anchor: list.before}, list.before === null),
        button("‹ Frames", {anchor: list.anchor, first: Math.max(0, first - 100)}, first === 0),
        button("Frames ›", {anchor: list.anchor, first: first + 100}, !list.more),
        button("Next restart point ›", {anchor: list.after}, list.after === null),
        button("Last »", {at: 1}, list.after === null),
        make("span", {id: "frames-status", className: "soft", role: "status",
          textContent: `from the ${list.anchor ? `restart point at byte ${digits(list.anchor)}` : "start of the file"}`})),
      make("div", {className: "wide-table", tabIndex: 0, role: "region", "aria-label": "Frames"},
        make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head, at) => make("th", {scope: "col", className: at < 6 ? "n" : "", textContent: head})))),
          make("tbody", {}, ...rows))),
      make("div", {id: "lookups", className: "tables", role: "region", "aria-label": "Lookup tables", "aria-live": "polite"}));
    if (!file.jumps && file.size > 5e7) byId("frames-status").textContent += " (no restart points: distant frames take long)";
  } catch (error) { panel.replaceChildren(make("p", {className: "card", role: "alert", textContent: error.message})); }
  panel.removeAttribute("aria-busy");
}
async function showLookups(file, anchor, frame) {
  const box = byId("lookups");
  try {
    const tables = await ask("/api/lookups", {file, anchor, frame});
    box.replaceChildren(...Object.entries(tables).map(([name, entries]) => make("div", {className: "card"},
      make("h2", {textContent: `${digits(entries.length)} ${entries.length === 1 ? name.replace(/(?<=x)es$|s$/, "") : name} after frame ${frame}`}),
      make("div", {className: "scroll", tabIndex: 0, role: "region", "aria-label": name}, make("table", {},
        make("thead", {}, make("tr", {}, make("th", {scope: "col", textContent: "id"}), make("th", {scope: "col", textContent: "entry"}))),
        make("tbody", {}, ...entries.map(([id, text]) => make("tr", {}, make("td", {textContent: id}), make("td", text ? {textContent: visible(text)} : {textContent: "(empty)", className: "soft"})))))))));
    box.scrollIntoView({block: "nearest"});
  } catch (error) { box.replaceChildren(make("p", {className: "card", role: "alert", textContent: error.message})); }
}

// ---- plots and options ----

const plotsOf = new Map();
async function showPlots(now) {
  const panel = byId("plots");
  if (!plotsOf.has(now.file)) {
    panel.replaceChildren(make("p", {className: "soft", role: "status", textContent: "Counting…"}));
    try { plotsOf.set(now.file, await ask("/api/plots", {file: now.file})); }
    catch (error) { panel.replaceChildren(make("p", {className: "card", role: "alert", textContent: error.message})); return; }
  }
  const found = plotsOf.get(now.file), box = make("div");
  box.innerHTML = found.figures;
  panel.replaceChildren(make("p", {className: "soft", textContent: found.sampled === null ? "All of the file."
    : `A sample of ${bytes(found.sampled)} from ${found.places} places of the file; numbers are those of the sample.`}), box);
}
function showOptions(now) {
  const file = files[now.file];
  const lines = [["file", file.name], ["size", file.size === null ? "unknown" : `${bytes(file.size)} (${digits(file.size)} bytes)`],
    ["compression", file.compression || "none"], ["statements", file.statements === null ? "not known without reading all" : digits(file.statements)],
    ["restart points", file.indexed ? "with an index" : file.jumps ? "found as they are needed" : "none: pages are read from the start"], ...file.options];
  byId("options").replaceChildren(make("div", {className: "card"}, make("dl", {className: "facts"},
    ...lines.map(([name, value]) => make("div", {}, make("dt", {textContent: name.replaceAll("_", " ")}), make("dd", {textContent: value || "–"}))))));
}

// ---- all tabs ----

function show() {
  const now = state();
  if (!files[now.file]) now.file = 0;
  byId("file").value = now.file;
  const file = files[now.file];
  document.title = `${file.name.split("/").pop()} · jellyframe view`;
  byId("subtitle").textContent = [file.size === null ? null : bytes(file.size), file.statements === null ? null : `${digits(file.statements)} statements`,
    file.graphs ? "quads" : "triples", file.compression].filter(Boolean).join(" · ");
  for (const tab of TABS) {
    const isShown = tab === now.tab;
    byId(`tab-${tab}`).setAttribute("aria-selected", String(isShown));
    byId(`tab-${tab}`).tabIndex = isShown ? 0 : -1;
    byId(tab).hidden = !isShown;
  }
  ({statements: showStatements, frames: showFrames, plots: showPlots, options: showOptions})[now.tab](now);
}
const KEYS = [["n or →", "next page", ["n", "ArrowRight"], () => turn.next()], ["p or ←", "previous page", ["p", "ArrowLeft"], () => turn.previous()],
  ["Home", "first page", ["Home"], () => turn.first()], ["End", "last page", ["End"], () => !byId("last").disabled && turn.last()],
  ["/", "filter by subject", ["/"], () => byId("filters").elements.s.focus()], ["c", "clear the filters", ["c"], () => go({tab: "statements"})],
  ["1 2 3 4", "statements, frames, plots, options", ["1", "2", "3", "4"], key => go({tab: TABS[key - 1]})],
  ["d", "light or dark", ["d"], () => byId("theme").click()], ["?", "these keys", ["?"], () => byId("help").showModal()],
  ["Tab, Enter", "move to a term, follow it", [], null]];

async function begin() {
  for (const [keys, words] of KEYS) byId("help-keys").append(make("dt", {}, make("kbd", {textContent: keys})), make("dd", {textContent: words}));
  for (const name of Object.keys(turn)) byId(name).addEventListener("click", turn[name]);
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => go({tab}));
  document.querySelector("[role=tablist]").addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.stopPropagation();
    const tab = TABS[(TABS.indexOf(state().tab) + step + TABS.length) % TABS.length];
    go({tab});
    byId(`tab-${tab}`).focus();
  });
  byId("file").addEventListener("change", () => go({file: byId("file").value}));
  byId("filters").addEventListener("submit", event => { event.preventDefault(); go(filtersNow()); });
  byId("clear").addEventListener("click", () => go({}));
  byId("stop").addEventListener("click", () => { search++; byId("stop").hidden = true; say("Stopped."); });
  byId("jump").addEventListener("change", () => { const at = byId("jump").value / 1000; go(at >= 1 ? {at: "last"} : {at}); });
  byId("goto").addEventListener("submit", event => {
    event.preventDefault();
    const number = Number(byId("number").value.replace(/[\s\u202f,.]/g, ""));
    if (number >= 1) go({at: `number:${Math.floor(number) - 1}`}); else say("That is not the number of a statement.", true);
  });
  byId("keys").addEventListener("click", () => byId("help").showModal());
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) {
      if (event.key === "Escape" && event.target.matches("input")) event.target.blur();
      return;
    }
    const isTurning = ["n", "p", "ArrowRight", "ArrowLeft", "Home", "End"].includes(event.key);
    if (isTurning && state().tab !== "statements") return;
    const known = KEYS.find(([, , keys]) => keys.includes(event.key));
    if (known) { event.preventDefault(); known[3](event.key); }
  });
  document.addEventListener("pointermove", event => {
    const tip = byId("tip"), marked = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = !marked;
    if (!marked) return;
    tip.textContent = marked.dataset.tip;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${Math.max(8, event.clientY - box.height - 12)}px`;
  });
  addEventListener("hashchange", show);
  try {
    files = (await ask("/api/files")).files;
    const names = files.map(file => file.name.split("/").pop());
    byId("file").append(...files.map((file, at) => make("option", {
      value: at, title: file.name, textContent: visible(names.indexOf(names[at]) === names.lastIndexOf(names[at]) ? names[at] : file.name),
    })));
    show();
  } catch (error) { say(error.message, true); }
}
begin();
