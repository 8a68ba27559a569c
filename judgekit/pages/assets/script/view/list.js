// The runs of a folder: sorted, searched, chosen for comparison; fetched again every few seconds.

const PAUSE = 2000;
const state = { q: "", kind: "", sort: "modified", down: true, picked: [] };
let runs = [];
let note = "";
let tag = null;
const parts = {};

const addressOf = (run) => "/run?" + new URLSearchParams({ run: run.id });
const compareAddress = (ids) => "/compare?" + new URLSearchParams(ids.map((id) => ["run", id]));
const collator = new Intl.Collator("en", { numeric: true });

const COLUMNS = [
  ["id", "Run", "id", (run) => run.id],
  ["modified", "When", "when", (run) => run.modified],
  ["verdict", "Verdict", "", (run) => wordOf(run)],
  ["metrics", "Metrics", "", (run) => (run.metrics.length ? run.metrics[0].mean : null)],
  ["cases", "Cases", "num n-cases", (run) => run.cases],
  ["judges", "Judge", "judges", (run) => run.judges.join(", ")],
];

const WORDS = { writing: "Running", stopped: "Stopped before its end", damaged: "Damaged" };
const wordOf = (run) => WORDS[run.state] || run.verdict;

// What runs are filtered by: how they ended, or that they did not.
const KINDS = { pass: "Pass", missed: "Gate missed", incomplete: "Incomplete", complete: "Complete", writing: "Running", stopped: "Stopped", damaged: "Damaged" };
const kindOf = (run) => (run.state === "finished" ? run.tone : run.state);

function readState() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  state.q = wanted.get("q") || "";
  state.kind = Object.hasOwn(KINDS, wanted.get("verdict") || "") ? wanted.get("verdict") : "";
  state.sort = COLUMNS.some(([name]) => name === wanted.get("sort")) ? wanted.get("sort") : "modified";
  state.down = wanted.has("sort") ? wanted.get("order") === "down" : true;
  state.picked = wanted.getAll("run");
}

function writeState() {
  const wanted = new URLSearchParams();
  if (state.q) wanted.set("q", state.q);
  if (state.kind) wanted.set("verdict", state.kind);
  if (state.sort !== "modified" || !state.down) {
    wanted.set("sort", state.sort);
    if (state.down) wanted.set("order", "down");
  }
  for (const id of state.picked) wanted.append("run", id);
  history.replaceState(null, "", "#" + wanted);
}

function build() {
  const browser = document.getElementById("browser");
  parts.search = h("input", { type: "search", placeholder: "Search runs, metrics, judges", autocomplete: "off", spellcheck: "false", "aria-label": "Search runs" });
  parts.search.addEventListener("input", () => change({ q: parts.search.value }));
  parts.kinds = h("select", { "aria-label": "Verdict" });
  parts.kinds.addEventListener("change", () => change({ kind: parts.kinds.value }));
  parts.count = h("p", { class: "count", role: "status" });
  parts.bar = h("div", { class: "compare-bar", role: "region", "aria-label": "Compare" });
  parts.head = h("thead");
  parts.body = h("tbody");
  parts.table = h("table", { class: "list runs-list" }, h("caption", { class: "unseen" }, "Runs"), parts.head, parts.body);
  parts.empty = h("div", { class: "empty", hidden: true });
  browser.append(
    h("div", { class: "controls" }, parts.search, parts.kinds),
    parts.bar,
    h("div", { class: "status-line" }, parts.count),
    h("div", { class: "scroller" }, parts.table),
    parts.empty,
  );
  browser.hidden = false;
}

function change(wanted) {
  Object.assign(state, wanted);
  draw();
  writeState();
}

function matching() {
  const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (run) => [run.id, run.title, wordOf(run), run.problem, ...run.judges, ...run.metrics.map((m) => m.name)].join("\n").toLowerCase();
  const valueOf = COLUMNS.find(([name]) => name === state.sort)[3];
  const turn = state.down ? -1 : 1;
  return runs
    .filter((run) => !state.kind || kindOf(run) === state.kind)
    .filter((run) => terms.every((term) => text(run).includes(term)))
    .map((run, n) => [valueOf(run), run, n])
    .sort(([a, , x], [b, , y]) => {
      if (a === null || b === null) return (a === null) - (b === null) || x - y;
      return (typeof a === "number" ? a - b : collator.compare(a, b)) * turn || x - y;
    })
    .map(([, run]) => run);
}

function draw() {
  const found = matching();
  if (parts.search.value !== state.q) parts.search.value = state.q;
  state.picked = state.picked.filter((id) => runs.some((run) => run.id === id && run.state === "finished"));
  drawHead();
  drawKinds();
  trends = trendsOf(runs);
  const focused = document.activeElement?.dataset?.pick;
  parts.body.replaceChildren(...found.map(row));
  if (focused !== undefined) [...parts.body.querySelectorAll("input")].find((box) => box.dataset.pick === focused)?.focus();
  const all = `${runs.length.toLocaleString("en")} run${runs.length === 1 ? "" : "s"}`;
  parts.count.textContent = (found.length === runs.length ? all : `${found.length.toLocaleString("en")} of ${all}`) + (note ? `. ${note}` : "");
  parts.table.hidden = !found.length;
  parts.empty.hidden = found.length > 0;
  parts.empty.replaceChildren();
  if (!found.length) append(parts.empty, runs.length ? ["No run matches."] : ["No run yet. One that is made here shows at once:", h("pre", null, "judgekit run suite.yaml --out FOLDER")]);
  drawBar();
}

function drawHead() {
  const focused = document.activeElement?.dataset?.column;
  const cells = COLUMNS.map(([column, name, kind]) => {
    const on = state.sort === column;
    const button = h("button", { type: "button", title: "Sort", "data-column": column }, name);
    button.addEventListener("click", () => change(on ? { down: !state.down } : { sort: column, down: column === "modified" || column === "cases" }));
    return h("th", { scope: "col", class: kind, "aria-sort": on ? (state.down ? "descending" : "ascending") : "none" }, button);
  });
  parts.head.replaceChildren(h("tr", null, h("td", { class: "pick" }), cells));
  if (focused) [...parts.head.querySelectorAll("button")].find((b) => b.dataset.column === focused)?.focus();
}

function drawKinds() {
  const counts = new Map();
  for (const run of runs) counts.set(kindOf(run), (counts.get(kindOf(run)) || 0) + 1);
  const options = [["", `All verdicts (${runs.length.toLocaleString("en")})`]];
  for (const [kind, name] of Object.entries(KINDS)) {
    if (counts.has(kind) || kind === state.kind) options.push([kind, `${name} (${(counts.get(kind) || 0).toLocaleString("en")})`]);
  }
  const key = JSON.stringify(options);
  if (parts.kinds.dataset.options !== key) parts.kinds.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
  parts.kinds.dataset.options = key;
  parts.kinds.value = state.kind;
}

// -- the means of a suite over its runs ------------------------------------------------

const MOST_RUNS = 30; // the latest
const UNNAMED = "judgekit report"; // the title of runs whose suite has no name
let trends = new Map(); // id of the newest run of a suite -> metric -> its means, the oldest first

function trendsOf(all) {
  const suites = new Map();
  for (const run of all) {
    if (run.state !== "finished" || run.title === UNNAMED) continue;
    if (!suites.has(run.title)) suites.set(run.title, []);
    suites.get(run.title).push(run);
  }
  const made = new Map();
  for (const several of suites.values()) {
    several.sort((a, b) => a.modified - b.modified);
    const means = new Map();
    for (const run of several.slice(-MOST_RUNS)) {
      for (const { name, mean } of run.metrics) {
        if (!means.has(name)) means.set(name, []);
        if (mean !== null) means.get(name).push(mean);
      }
    }
    made.set(several.at(-1).id, means);
  }
  return made;
}

// A line of at least three means. Its height is at least a fifth of the metric's range, so that
// small differences look small.
function trend(run, metric) {
  const means = trends.get(run.id)?.get(metric.name) || [];
  if (means.length < 3) return null;
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const height = Math.max(high - low, metric.span / 5) || 1;
  const middle = (low + high) / 2;
  const places = means.map((mean, n) => [2 + (n / (means.length - 1)) * 56, 8 - ((mean - middle) / height) * 12].map((each) => each.toFixed(1)));
  const label = `${metric.name} over the last ${means.length} runs of ${run.title}`;
  const image = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ class: "trend", viewBox: "0 0 60 16", role: "img", "aria-label": plain(label) })) image.setAttribute(name, value);
  const shape = (tag, attributes) => {
    const element = document.createElementNS(image.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    image.append(element);
  };
  shape("polyline", { points: places.map((place) => place.join(",")).join(" ") });
  shape("circle", { cx: places.at(-1)[0], cy: places.at(-1)[1], r: "2" });
  return image;
}

function row(run) {
  const place = state.picked.indexOf(run.id);
  const box = h("input", { type: "checkbox", "aria-label": `Compare ${run.id}`, "data-pick": run.id, disabled: run.state !== "finished" });
  box.checked = place >= 0;
  box.addEventListener("change", () => change({ picked: box.checked ? [...state.picked, run.id] : state.picked.filter((id) => id !== run.id) }));
  const when = new Date(run.modified * 1000);
  return h(
    "tr",
    { class: place >= 0 ? "picked" : "" },
    h("td", { class: "pick" }, box, place >= 0 ? h("span", { class: "place" }, place === 0 ? "base" : "new") : null),
    h("th", { scope: "row", class: "id" }, run.state === "damaged" ? h("bdi", null, breakable(run.id)) : h("a", { href: addressOf(run) }, h("bdi", null, breakable(run.id))), h("span", { class: "title", dir: "auto" }, run.title)),
    h("td", { class: "when" }, run.modified ? [h("time", { datetime: when.toISOString(), title: when.toLocaleString() }, ago(run.modified))] : "–"),
    h("td", null, h("span", { class: "chip " + (run.state === "finished" ? run.tone : run.state) }, wordOf(run))),
    run.problem ? h("td", { class: "problem", colspan: "3", dir: "auto" }, run.problem) : [
      h("td", null, h("div", { class: "means" }, run.metrics.map((metric) => [h("span", { class: "name" }, breakable(metric.name)), h("b", null, metric.shown), h("span", { class: "ci" }, metric.interval, metric.failed ? ` ${metric.failed} failed` : "", trend(run, metric))]))),
      h("td", { class: "num n-cases" }, run.cases === null ? "–" : run.cases.toLocaleString("en")),
      h("td", { class: "judges", dir: "auto" }, run.judges.join(", ") || "–"),
    ],
  );
}

function ago(seconds) {
  const age = Date.now() / 1000 - seconds;
  if (age < 60) return "just now";
  if (age < 3600) return `${Math.floor(age / 60)} min ago`;
  if (age < 86400) return `${Math.floor(age / 3600)} h ago`;
  return new Date(seconds * 1000).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

function drawBar() {
  const [base, ...others] = state.picked;
  const said = base === undefined
    ? "Tick two runs or more to compare them; the first one ticked is the base."
    : others.length ? ["Base: ", h("strong", null, h("bdi", null, base)), ", compared with it: ", others.map((id, n) => [n ? ", " : "", h("strong", null, h("bdi", null, id))])] : ["Base: ", h("strong", null, h("bdi", null, base)), ". Tick the runs to compare with it."];
  const swap = others.length === 1 ? h("button", { type: "button", class: "clear", on: { click: () => change({ picked: [...state.picked].reverse() }) } }, "Swap") : null;
  const clear = base === undefined ? null : h("button", { type: "button", class: "clear", on: { click: () => change({ picked: [] }) } }, "Clear");
  const go = others.length ? h("a", { class: "go", href: compareAddress(state.picked) }, "Compare") : null;
  parts.bar.replaceChildren();
  append(parts.bar, [h("p", null, said), swap, clear, go]);
  parts.bar.hidden = runs.filter((run) => run.state === "finished").length < 2;
}

async function look() {
  const reply = await fetch("/api/runs", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (reply.status === 304) {
    for (const time of parts.body.querySelectorAll("time")) time.textContent = ago(new Date(time.dateTime) / 1000);
    return;
  }
  if (!reply.ok) throw new Error("The list of runs cannot be loaded.");
  tag = reply.headers.get("ETag");
  ({ runs, note } = await reply.json());
  draw();
}

async function start() {
  const loading = document.getElementById("loading");
  loading.hidden = false;
  readState();
  build();
  for (;;) {
    try {
      if (!document.hidden) await look();
      loading.hidden = true;
      document.documentElement.dataset.ready = "yes";
    } catch {
      loading.hidden = false;
      loading.textContent = "judgekit view does not answer any more; what is here is as it was.";
    }
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}

start();
