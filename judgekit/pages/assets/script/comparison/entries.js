// One case of the table: what two runs hold of it, how far it moved, and what it is filtered by.
// Everything here compares the chosen run (state.run) with the base.

const STATUSES = [
  ["all", "All"],
  ["worse", "Regressed"],
  ["better", "Improved"],
  ["flipped", "Flipped"],
  ["same", "Unchanged"],
  ["unscored", "Score lost or gained"],
  ["judging", "Same answer, other score"],
  ["one", "Only in one run"],
  ["other", "Another question or criteria"],
];

// Regressions first, unless another order is chosen.
const DEFAULT_ORDER = "Regressions first";
const inOrder = (entries) => [...entries].sort((a, b) => rankOf(a) - rankOf(b) || a.n - b.n);

const rankOf = (entry) => entry.case.rank[state.run];

function digestOf(item, n) {
  const made = [];
  const view = () => (made[state.run] = made[state.run] || viewOf(item, state.run));
  return {
    n,
    case: item,
    id: item.id,
    get cells() {
      return view().cells;
    },
    get flags() {
      return view().flags;
    },
    facets: facets.map((facet) => facetValue(item, facet.name)),
    line: item.line,
    found: null,
  };
}

function viewOf(item, run) {
  const fate = item.fate[run];
  const flags = new Set();
  const base = item.v[0];
  const other = item.v[run + 1];
  const paired = fate !== null && base && other && fate !== "other";
  const cells = data.metrics.map((metric, m) => {
    const compared = paired && isCompared(item, m, run);
    const cell = stepOf(metric, run, base ? base[m] : null, other ? other[m] : null, compared);
    if (!compared) return cell;
    if (cell.flip) flags.add("flipped");
    if (cell.way && item.same[run]) flags.add("judging");
    if (typeof cell.base !== typeof cell.other) flags.add("unscored");
    return cell;
  });
  // A case got worse if one of its metrics did, and better if some did and none got worse: the rule
  // by which the page counts and orders them, too.
  if (fate === "worse" || fate === "better") flags.add(fate);
  if (fate === "only_base" || fate === "only_new") flags.add("one");
  else if (fate === "other") flags.add("other");
  else if (fate === "same") flags.add("same");
  return { cells, flags };
}

// A comparison can leave out a whole metric, or one on the cases that have other criteria in the new run.
const isCompared = (item, m, run) => data.metrics[m].compared[run] && !(item.left_out && item.left_out[run].includes(m));

// Values are numbers; what has none is named by its state, what is not there is null.
function stepOf(metric, run, base, other, compared) {
  const cell = { base, other };
  const threshold = metric.thresholds[run];
  const passes = (value) =>
    typeof value !== "number" || threshold === null ? null : metric.higher ? value >= threshold : value <= threshold;
  cell.passes = [passes(base), passes(other)];
  if (!compared || typeof base !== "number" || typeof other !== "number") return cell;
  const step = difference(base, other);
  cell.value = step;
  if (step) cell.way = step > 0 === metric.higher ? "better" : "worse";
  if (cell.passes[0] !== null && cell.passes[0] !== cell.passes[1]) cell.flip = cell.passes[1] ? "to-pass" : "to-fail";
  return cell;
}

// Smaller differences than this are none, as in the analysis.
const EPSILON = 1e-9;
const difference = (base, other) => (Math.abs(other - base) < EPSILON ? 0 : other - base);

function haystack(entry) {
  if (entry.found === null) {
    const item = entry.case;
    const texts = [item.id, item.line, item.out];
    for (const value of Object.values(item.metadata || {})) texts.push(say(value));
    for (const { name } of data.case_fields) {
      const value = item.asked && item.asked[name];
      if (typeof value === "string") texts.push(value);
    }
    for (const edits of Object.values(item.edits || {})) texts.push(...edits.filter((edit) => typeof edit === "string"));
    for (const said of item.said || []) {
      for (const result of Object.values(said || {})) {
        texts.push(result.reason, result.kind);
        for (const part of result.parts || []) texts.push(part.reason);
      }
    }
    entry.found = texts.filter(Boolean).join("\n").toLowerCase();
  }
  return entry.found;
}

const toneOf = (cell) => cell.way || "";

const shownValue = (metric, value) =>
  typeof value === "number" ? showNumber(value, metric.scale, metric.range[0] === null || metric.range[1] === null) : value === null ? "–" : words(value);

function shownStep(metric, cell) {
  const size = Math.abs(cell.value * metric.scale);
  const digits = size && size < 0.005 ? size.toPrecision(1) : showNumber(Math.abs(cell.value), metric.scale, false);
  return (cell.value < 0 ? "−" : "+") + digits;
}

const SIGNS = { worse: ["▼", "worse by"], better: ["▲", "better by"] };

function cellContent(cell, metric) {
  const base = shownValue(metric, cell.base);
  if (cell.value === 0 || (cell.base === cell.other && typeof cell.base !== "number")) {
    return h("span", { class: "value" }, h("span", { class: "still" }, base));
  }
  const pair = h("span", { class: "pair" }, base, h("span", { "aria-hidden": "true" }, " → "), h("span", { class: "unseen" }, " then "), shownValue(metric, cell.other));
  if (!cell.way) return h("span", { class: "value" }, pair);
  const [sign, words] = SIGNS[cell.way];
  return [
    h("span", { class: "value" }, h("span", { class: "sign", role: "img", "aria-label": words }, sign), h("span", null, shownStep(metric, cell))),
    pair,
    cell.flip && chip(cell.flip === "to-fail" ? "bad" : "good", cell.flip === "to-fail" ? "✗ fails now" : "✓ passes now"),
  ];
}
