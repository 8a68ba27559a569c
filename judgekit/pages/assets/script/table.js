// The table of cases: its controls, its head, and rows drawn as far as they are scrolled to.

const CHUNK = 30;
const FIRST = 10; // rows before "Show all"
let shown = []; // entries that match, in order
let drawn = 0;
let expanded = false; // whether to show more than the first rows
let selected = -1; // place in `shown`
const parts = {}; // elements that change

function buildBrowser() {
  const browser = document.getElementById("browser");
  parts.search = h("input", {
    type: "search",
    id: "search",
    placeholder: "Search ids, texts, reasons",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search cases",
    on: { input: () => change({ q: parts.search.value }) },
  });
  parts.statuses = h("div", { class: "statuses", role: "group", "aria-label": "Status" });
  parts.menus = facets.map(facetMenu);
  parts.facets = h("div", { class: "facets", role: "group", "aria-label": "Metadata" }, parts.menus.map(({ menu }) => menu));
  parts.count = h("p", { class: "count", role: "status" });
  parts.clear = h("button", { type: "button", class: "clear", on: { click: clearFilters } }, "Clear filters");
  parts.order = h("button", { type: "button", class: "clear order", on: { click: toggleOrder } });
  parts.all = h("button", { type: "button", class: "action show-all", on: { click: expand } });
  parts.head = h("thead");
  parts.body = h("tbody");
  parts.table = h(
    "table",
    { class: "list" },
    h("caption", { class: "unseen" }, "Cases and their results by metric"),
    parts.head,
    parts.body,
  );
  parts.more = h("div", { class: "more-rows", "aria-hidden": "true" });
  parts.empty = h("p", { class: "empty", hidden: true }, "No case matches.");
  parts.scroller = h("div", { class: "scroller" }, parts.table, parts.more);
  parts.sorting = h("span", { class: "sorting" });
  browser.append(
    h("div", { class: "controls" }, parts.search, parts.statuses, parts.facets, columnMenu()),
    h(
      "div",
      { class: "status-line" },
      parts.count,
      parts.sorting,
      parts.clear,
      parts.order,
      h("p", { class: "keys" }, key("j"), key("k"), " move ", key("Enter"), " open ", key("Esc"), " close ", key("/"), " search"),
    ),
    parts.scroller,
    parts.empty,
    parts.all,
  );
  browser.hidden = false;
  parts.body.addEventListener("click", clickedRow);
  new IntersectionObserver((seen) => expanded && seen.some((each) => each.isIntersecting) && drawMore(), {
    rootMargin: "900px",
    scrollMargin: "900px",
  }).observe(parts.more);
  addEventListener("beforeprint", () => {
    expanded = true;
    while (drawn < Math.min(shown.length, 1000)) drawMore();
  });
}

const key = (name) => h("kbd", null, name);

function change(wanted, { push = false } = {}) {
  Object.assign(state, wanted);
  refresh();
  writeState({ push });
}

// The figures are below the table, so it grows only on request.
function expand() {
  expanded = true;
  drawMore();
  parts.body.children[Math.min(FIRST, drawn - 1)]?.focus({ preventScroll: true });
}

const toggleOrder = () => change({ sort: state.sort === "input-order" ? "" : "input-order", down: false }, { push: true });

const clearFilters = () => change({ q: "", status: "all", facets: new Map() }, { push: true });

// Draws everything again from the state.
function refresh() {
  const kept = selected >= 0 ? shown[selected] : null;
  const { found, counts } = matching();
  shown = sorted(found);
  selected = kept ? shown.indexOf(kept) : -1;
  const filtered = shown.length !== cases.length;
  if (parts.search.value !== state.q) parts.search.value = state.q;
  drawStatuses(counts.status);
  drawFacets(parts.menus, counts.facets);
  drawHead();
  parts.body.replaceChildren();
  drawn = 0;
  if (filtered || state.sort) expanded = true;
  drawMore();
  const all = data.of && data.window === undefined ? `the ${cases.length.toLocaleString("en")} kept cases` : `${cases.length.toLocaleString("en")} case${cases.length === 1 ? "" : "s"}`;
  parts.count.textContent = filtered ? `${shown.length.toLocaleString("en")} of ${all}` : data.of && data.window === undefined ? `${all} of ${data.of.toLocaleString("en")}` : all;
  parts.clear.hidden = !filtered && !state.q;
  parts.sorting.textContent = (state.sort ? sortName() : DEFAULT_ORDER).toLowerCase();
  parts.order.textContent = state.sort === "input-order" ? DEFAULT_ORDER : "Input order";
  parts.empty.hidden = shown.length > 0;
  parts.table.hidden = shown.length === 0;
}

function drawStatuses(counts) {
  const reasons = (data.reasons || []).map(({ text }) => ["why:" + text, text]);
  const buttons = [...STATUSES, ...reasons].flatMap(([name, label]) => {
    const count = counts.get(name) || 0;
    if (name !== "all" && !count && name !== state.status && !cases.some((e) => e.flags.has(name))) return [];
    const button = h(
      "button",
      { type: "button", "aria-pressed": String(name === state.status), "data-status": name },
      label + " ",
      h("b", null, count.toLocaleString("en")),
    );
    button.addEventListener("click", () => {
      change({ status: name }, { push: true });
      parts.statuses.querySelector('[aria-pressed="true"]')?.focus();
    });
    return [button];
  });
  parts.statuses.replaceChildren(...buttons);
}

function drawHead() {
  const columns = [{ id: "id", name: "Case", kind: "id" }, ...shownColumns()];
  const focused = document.activeElement?.dataset?.column;
  const cells = columns.map(({ id, name, kind, group, parts: isPart, downFirst }) => {
    const on = state.sort === id;
    const order = on ? (state.down ? "descending" : "ascending") : "none";
    const title = kind.startsWith("num") ? "Sort; worst first" : "Sort";
    const button = h("button", { type: "button", title, "data-column": id }, isPart && h("small", null, breakable(group), " "), breakable(name));
    button.addEventListener("click", () => sortBy(id, Boolean(downFirst)));
    return h("th", { scope: "col", class: kindOf(id, kind), "aria-sort": order }, button);
  });
  parts.head.replaceChildren(h("tr", null, cells));
  if (focused) [...parts.head.querySelectorAll("button")].find((b) => b.dataset.column === focused)?.focus();
}

// A column that a person asked for is there on a small screen, too.
const kindOf = (id, kind) => (chosenColumns.get(id) ? kind + " asked" : kind);

function sortName() {
  if (state.sort === "input-order") return "Input order";
  const column = allColumns().find(({ id }) => id === state.sort);
  return `By ${column ? column.name : "case"}`;
}

// First click: the worst or the first; second: the other way round; third: the default order.
function sortBy(column, downFirst) {
  if (state.sort !== column) change({ sort: column, down: downFirst }, { push: true });
  else if (state.down === downFirst) change({ down: !downFirst }, { push: true });
  else change({ sort: "", down: false }, { push: true });
}

function drawMore() {
  const rows = shown.slice(drawn, expanded ? drawn + CHUNK : FIRST).map((entry, n) => row(entry, drawn + n));
  drawn += rows.length;
  parts.body.append(...rows);
  parts.all.hidden = expanded || drawn >= shown.length;
  parts.all.textContent = `Show all ${shown.length.toLocaleString("en")} ${data.of && data.window === undefined ? "kept cases" : "cases"}`;
}

function row(entry, place) {
  const link = h("a", { href: "#" + hashOf(entry.id), tabindex: "-1" }, h("bdi", null, shortId(entry.id)));
  return h(
    "tr",
    { "data-place": place, tabindex: place === Math.max(0, selected) ? "0" : "-1", class: place === selected && "selected" },
    h("th", { scope: "row", class: "id", title: entry.id.length > LONG_ID && entry.id }, link, entry.case.place && h("small", { class: "at" }, entry.case.place)),
    shownColumns().map((column) => {
      const kind = kindOf(column.id, column.kind);
      const dir = kind.startsWith("num") ? null : "auto";
      return h("td", { class: column.tone ? `${kind} ${column.tone(entry)}` : kind, dir }, column.cell(entry));
    }),
  );
}

function clickedRow(event) {
  const line = event.target.closest("tr");
  if (!line || event.ctrlKey || event.metaKey || String(getSelection())) return;
  event.preventDefault();
  select(Number(line.dataset.place), { focus: true });
  openCase(shown[selected]);
}

// Moves the selection; rows are drawn as far as it needs.
function select(place, { focus = false } = {}) {
  if (!shown.length) return;
  place = Math.max(0, Math.min(shown.length - 1, place));
  if (drawn <= place) expanded = true;
  while (drawn <= place) drawMore();
  for (const old of parts.body.querySelectorAll('tr.selected, tr[tabindex="0"]')) {
    old.classList.remove("selected");
    old.tabIndex = -1;
  }
  selected = place;
  const line = parts.body.children[place];
  line.classList.add("selected");
  line.tabIndex = 0;
  line.scrollIntoView({ block: "nearest" });
  if (focus) line.focus({ preventScroll: true });
}
