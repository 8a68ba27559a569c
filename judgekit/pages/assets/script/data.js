// The data of the page, and what is worked out from it once.

let data = { metrics: [], texts: [], cases: [], fields: [], case_fields: [], prompts: "none" };
let cases = []; // {n, case, id, cells: [per metric], flags, facets, line, found}
const heldEntries = new Map(); // entries of labelled cases that are not in the list now
let facets = []; // {name, values: [...], missing: whether some case lacks it}
let fetchAsked = null; // where a server has what was left out: case -> its records by key

let whole = Promise.resolve(); // until every text of the cases is here
let isWhole = true;

async function readData() {
  const element = document.getElementById("data");
  let text = element.textContent;
  let rest = null;
  if (element.dataset.compressed === "yes") {
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack the cases; open the page in a newer one (Chrome 80, Firefox 113, Safari 16.4).");
    }
    const stream = new Blob([unpacked64(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
    [text, rest] = await firstOf(stream.pipeThrough(new TextDecoderStream()).getReader());
  }
  element.remove();
  data = JSON.parse(text);
  facets = findFacets(data.fields || [], data.cases);
  cases = data.cases.map(digestOf);
  if (rest) {
    isWhole = false;
    // The list is painted first.
    whole = new Promise((done) => setTimeout(done, 100)).then(rest).then(fillIn);
  }
}

// The first line of a stream, and a function that reads the rest; null if there is none. The
// first line of a large page is all that its list of cases needs.
async function firstOf(reader) {
  const pieces = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return [pieces.join(""), null];
    const end = value.indexOf("\n");
    pieces.push(end < 0 ? value : value.slice(0, end));
    if (end >= 0) return [pieces.join(""), () => restOf(reader, value.slice(end + 1))];
  }
}

async function restOf(reader, begun) {
  const pieces = [begun];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces.join("");
    pieces.push(value);
  }
}

function fillIn(text) {
  Object.assign(data, JSON.parse(text));
  for (const entry of cases) {
    entry.case = data.cases[entry.n];
    data.metrics.forEach(({ name }, place) => {
      const result = own(entry.case.rows, name);
      if (result) entry.cells[place].result = result;
    });
  }
  isWhole = true;
}

function unpacked64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  return bytes;
}

// Shared texts are named by number.
const textOf = (value) => (typeof value === "number" ? data.texts[value] : value);

// Half up to two decimals, like Score.shown.
const rounded = (value) => Math.floor((value + 2 ** -52) * 100 + 0.5) / 100;

// `counts`: of a metric without bounds: whole numbers stay whole.
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

// The fields of the metadata with few values, and which values there are.
function findFacets(names, items) {
  const collator = new Intl.Collator("en", { numeric: true });
  return names.map((name) => {
    const values = new Set(items.map((item) => facetValue(item, name)));
    const missing = values.delete(null);
    return { name, missing, values: [...values].sort(collator.compare) };
  });
}
