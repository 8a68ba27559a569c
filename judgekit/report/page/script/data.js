// The data of the page, and what is worked out from it once.

let data = { metrics: [], texts: [], cases: [], prompts: "none" };
let cases = []; // {n, case, id, cells: [per metric], flags, facets, line, found}
let facets = []; // {name, values: [...]}

async function readData() {
  const element = document.getElementById("data");
  let text = element.textContent;
  if (element.dataset.compressed === "yes") {
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack the cases; open the page in a newer one (Chrome 80, Firefox 113, Safari 16.4).");
    }
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    text = await new Response(stream).text();
  }
  element.remove();
  data = JSON.parse(text);
  facets = findFacets(data.cases);
  cases = data.cases.map(digestOf);
}

// Shared texts are named by number.
const textOf = (value) => (typeof value === "number" ? data.texts[value] : value);

// Half up to two decimals, like Score.shown.
const rounded = (value) => Math.floor((value + 2 ** -52) * 100 + 0.5) / 100;

// `counts`: of a metric without bounds, whose whole numbers stay whole.
function showNumber(value, scale, counts) {
  const shown = rounded(value * scale);
  if (counts && Number.isInteger(shown)) return shown.toLocaleString("en");
  return Math.abs(shown) >= 1000 ? Math.round(shown).toLocaleString("en") : shown.toFixed(2);
}

const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

function digestOf(item, n) {
  const flags = new Set();
  const cells = data.metrics.map((metric) => cellOf(metric, own(item.rows, metric.name), flags));
  return {
    n,
    case: item,
    id: item.id,
    cells,
    flags,
    facets: facets.map((facet) => facetValue(item, facet.name)),
    line: firstLine(item),
    found: null,
  };
}

function cellOf(metric, result, flags) {
  if (!result) {
    flags.add("failed");
    return { state: "missing" };
  }
  if (result.type === "failure") {
    flags.add("failed");
    return { state: "failed", kind: result.kind, result };
  }
  const cell = { state: result.status || "scored", result };
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
  const texts = [item.input, item.output, ...(item.history || []).map((message) => message.content)];
  for (const text of texts) {
    const line = (text || "").split(/\r?\n/).find((candidate) => candidate.trim());
    if (line) return line.trim().slice(0, 200);
  }
  return "";
}

function facetValue(item, name) {
  const value = own(item.metadata, name);
  return value === undefined || value === null || typeof value === "object" ? null : say(value);
}

// Metadata with few values is offered as a filter.
function findFacets(items) {
  const seen = new Map();
  for (const item of items) {
    for (const name of Object.keys(item.metadata || {})) {
      const value = facetValue(item, name);
      if (value === null || value.length > 60) continue;
      if (!seen.has(name)) seen.set(name, new Set());
      if (seen.get(name).size <= 24) seen.get(name).add(value);
    }
  }
  const most = Math.min(24, Math.max(2, items.length / 2));
  const collator = new Intl.Collator("en", { numeric: true });
  return [...seen]
    .filter(([, values]) => values.size > 1 && values.size <= most)
    .slice(0, 6)
    .map(([name, values]) => ({ name, values: [...values].sort(collator.compare) }));
}

// Everything a search looks through, made when first needed.
function haystack(entry) {
  if (entry.found === null) {
    const { case: item } = entry;
    const texts = [item.id, item.input, item.output, item.baseline];
    for (const message of item.history || []) texts.push(message.content);
    for (const value of Object.values(item.metadata || {})) texts.push(say(value));
    for (const result of Object.values(item.rows)) {
      texts.push(result.reason, result.message, result.kind);
      for (const part of result.parts || []) texts.push(part.reason);
    }
    entry.found = texts.filter(Boolean).join("\n").toLowerCase();
  }
  return entry.found;
}
