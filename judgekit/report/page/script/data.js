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
