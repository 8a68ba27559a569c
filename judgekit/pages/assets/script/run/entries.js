// One case of the table: what is worked out of its results, its cells, and what they are filtered by.

const STATUSES = [
  ["all", "All"],
  ["failing", "Failing"],
  ["below", "Below threshold"],
  ["failed", "Failed"],
  ["fallback", "Fallback"],
  ["abstained", "Abstained"],
  ["not_applicable", "Not applicable"],
  ["unfound", "Quote not found"],
];

// Failing cases first, the worst on top, unless another order is chosen.
const DEFAULT_ORDER = "Failing first";
let ranks = null;
function inOrder(entries) {
  if (!ranks) {
    ranks = new Map();
    data.order.forEach((n, rank) => ranks.set(n, rank));
  }
  return [...entries].sort((a, b) => ranks.get(a.n) - ranks.get(b.n));
}

function digestOf(item, n) {
  const flags = new Set();
  const cells = data.metrics.map((metric) => cellOf(metric, own(item.rows, metric.name), flags, noScore(item, metric.name, flags)));
  if (flags.has("below") || flags.has("failed")) flags.add("failing");
  return {
    n,
    case: item,
    id: item.id,
    cells,
    flags,
    facets: facets.map((facet) => facetValue(item, facet.name)),
    line: firstLine(item),
    out: item.out === undefined ? lineIn(item.output) : item.out,
    found: null,
  };
}

// Why a row has no score; each reason is a filter.
function noScore(item, metric, flags) {
  const why = (data.reasons || [])[own(item.why, metric)];
  if (!why) return null;
  flags.add("why:" + why.text);
  return why;
}

function cellOf(metric, result, flags, why) {
  if (!(why && why.lacks) && (!result || result.type === "failure")) flags.add("failed");
  if (!result) return { state: "missing" };
  if (result.type === "failure") return { state: why && why.lacks ? "lacking" : "failed", kind: why ? why.text : result.kind, result };
  const cell = { state: result.status || "scored", result };
  for (const flag of result.flags || []) flags.add(flag);
  for (const part of result.parts || []) {
    if (part.status === "abstained") flags.add("abstained");
    for (const quote of part.quotes || []) if (!quote.field) flags.add("unfound");
  }
  if (cell.state !== "scored") {
    flags.add(cell.state);
    return cell;
  }
  cell.value = result.value;
  const [low, high] = metric.range;
  cell.shown = showNumber(result.value, metric.scale, low === null || high === null);
  if (low !== null && high !== null && high > low) cell.share = (cell.value - low) / (high - low);
  if (metric.threshold !== null && !result.fallback) {
    cell.passes = metric.higher ? cell.value >= metric.threshold : cell.value <= metric.threshold;
    if (!cell.passes) flags.add("below");
  }
  const band = own(result.details, "band");
  if (typeof band === "string" && band.length < 24) cell.band = band;
  if (result.fallback) {
    cell.fallback = true;
    flags.add("fallback");
  }
  return cell;
}

function firstLine(item) {
  if (item.line !== undefined) return item.line;
  const texts = [item.input, item.output, ...(item.history || []).map((message) => message.content)];
  return texts.map(lineIn).find(Boolean) || "";
}

// The first line of a text that is not blank.
function lineIn(text) {
  const line = (text || "").match(/\S[^\r\n]*/);
  return line ? line[0].slice(0, 200).trim() : "";
}

// Everything a search looks through, made when first needed.
function haystack(entry) {
  if (entry.found === null) {
    const { case: item } = entry;
    const texts = [item.id];
    for (const { name, kind } of data.case_fields) {
      // Texts that many cases share are numbers here: a search for one would find them all.
      if (kind === "text" && typeof item[name] === "string") texts.push(item[name]);
      if (kind === "messages") for (const message of item[name] || []) texts.push(message.content);
    }
    for (const value of Object.values(item.metadata || {})) texts.push(say(value));
    for (const result of Object.values(item.rows)) {
      texts.push(result.reason, result.message, result.kind);
      for (const part of result.parts || []) texts.push(part.reason);
    }
    entry.found = texts.filter(Boolean).join("\n").toLowerCase();
  }
  return entry.found;
}

function toneOf(cell) {
  if (cell.state === "failed" || cell.state === "missing") return "failed";
  if (cell.state !== "scored") return "none";
  return cell.passes === undefined ? "" : cell.passes ? "pass" : "miss";
}

function cellContent(cell) {
  if (cell.state === "missing") return chip("bad", "no result");
  if (cell.state === "failed") return chip("bad", words(cell.kind), cell.result.message);
  if (cell.state === "lacking") return h("span", { class: "zero", title: cell.result.message }, cell.kind);
  if (cell.state !== "scored") return chip("quiet", cell.state === "abstained" ? "abstained" : "n/a", cell.result.reason);
  const verdict =
    cell.passes === undefined
      ? cell.band && h("span", { class: "band" }, cell.band)
      : h("span", { class: "sign", role: "img", "aria-label": cell.passes ? "passes" : "below threshold" }, cell.passes ? "✓" : "✗");
  return [
    h("span", { class: "value" }, verdict, h("span", null, cell.shown)),
    cell.share !== undefined && shareBar(cell.share, cell.passes === undefined ? "" : cell.passes ? "pass" : "miss"),
    cell.fallback && chip("warn", "fallback", cell.result.fallback.cause),
  ];
}
