// All cases of a very large run, some at a time: the page has only those that it keeps.

const KINDS_OF_CASES = [
  ["all", "All cases"], ["failing", "Failing"], ["below", "Below threshold"], ["failed", "Failed"], ["passes", "Passing"], ["fallback", "Fallback"],
  ["abstained", "Abstained"], ["not_applicable", "Not applicable"], ["lacking", "Lacks a field"], ["missing", "No result"],
  ["refused", "Refused"], ["truncated", "Reply cut off"], ["empty", "Empty reply"], ["only_thought", "Reply without an answer"], ["invalid_reply", "Invalid reply"], ["unavailable", "Judge unavailable"],
  ["cassette_miss", "Not recorded"], ["invalid_case", "Invalid case"], ["not_run", "Not run"], ["pending", "Waits for a batch job"], ["metric_error", "Error of the metric"],
];
const wholeRun = { kept: null, at: 0, total: 0, shown: 0, asked: 0 };
const windowParts = {};

function buildWindows() {
  const select = (label, options) => h("select", { "aria-label": label, on: { change: () => showWindow(0) } }, options.map(([value, text]) => h("option", { value }, text)));
  windowParts.status = select("Status in the whole run", KINDS_OF_CASES);
  windowParts.metric = select("Metric with this status", [["", "Any metric"], ...data.metrics.map(({ name }) => [name, name])]);
  windowParts.order = select("Order of the whole run", [["worst", "Worst first"], ["input", "Input order"]]);
  windowParts.text = h("input", { type: "search", placeholder: "Part of an id", autocomplete: "off", spellcheck: "false", "aria-label": "Part of an id", on: { change: () => showWindow(0) } });
  const button = (text, listener) => h("button", { type: "button", class: "action", on: { click: listener } }, text);
  windowParts.before = button("Previous 100", () => showWindow(Math.max(0, wholeRun.at - 100)));
  windowParts.after = button("Next", () => showWindow(wholeRun.at + wholeRun.shown));
  windowParts.kept = button("Back to the kept cases", showKept);
  windowParts.said = h("p", { class: "count", role: "status" });
  document.getElementById("browser").before(
    h("div", { class: "controls windows", role: "group", "aria-label": "All cases" },
      h("b", null, `All cases (${data.of.toLocaleString("en")})`), windowParts.status, windowParts.metric, windowParts.text, windowParts.order,
      button("Show", () => showWindow(0)), windowParts.before, windowParts.after, windowParts.kept, windowParts.said),
  );
  drawWindow("");
  fetchLabelled();
}

function drawWindow(text) {
  const inWindow = data.window !== undefined;
  windowParts.before.disabled = !inWindow || wholeRun.at === 0;
  windowParts.after.disabled = !inWindow || wholeRun.at + wholeRun.shown >= wholeRun.total;
  windowParts.kept.hidden = !inWindow;
  windowParts.said.textContent = text;
}

const queryOf = () => ({
  status: windowParts.status.value, order: windowParts.order.value, q: windowParts.text.value.trim(),
  ...(windowParts.metric.value ? { metric: windowParts.metric.value } : {}),
});

async function showWindow(at, query = queryOf()) {
  const asked = ++wholeRun.asked;
  drawWindow("Reading…");
  let found;
  try {
    await whole;
    found = await ask("/api/cases", { ...query, at });
  } catch (error) {
    drawWindow(error.message);
    return null;
  }
  if (asked !== wholeRun.asked) return null; // another one was asked for meanwhile
  wholeRun.kept ||= { cases, data: { cases: data.cases, order: data.order, reasons: data.reasons } };
  Object.assign(wholeRun, { at: found.at, total: found.total, shown: found.cases.length });
  useCases(found.cases.map((item) => withTexts(item, found.texts)), { window: found.total, reasons: found.reasons, order: found.cases.map((_, n) => n) });
  const last = (found.at + found.cases.length).toLocaleString("en");
  drawWindow(found.total ? `${(found.at + 1).toLocaleString("en")} to ${last} of ${found.total.toLocaleString("en")} cases that match` : "No case of the run matches.");
  return cases;
}

function showKept() {
  wholeRun.asked++;
  const { kept } = wholeRun;
  if (!kept) return;
  useCases(null, { ...kept.data, window: undefined }, kept.cases);
  drawWindow("");
}

// Puts cases into the list, in place of those that are there.
function useCases(items, more, entries = null) {
  holdLabelled();
  closeCase();
  Object.assign(data, more);
  if (items) data.cases = items;
  cases = entries || items.map(digestOf);
  ranks = null;
  columnsMade = null;
  selected = -1;
  Object.assign(state, { q: "", status: "all", facets: new Map(), sort: "", down: false, open: null });
  expanded = true;
  refresh();
  writeState();
}

// Texts that cases of a window share come by number; the page has numbers for its own texts.
function withTexts(item, texts) {
  for (const { name, kind } of data.case_fields) {
    if (typeof item[name] === "number" && kind === "text") item[name] = texts[item[name]];
    else if (kind === "texts" && Array.isArray(item[name])) item[name] = item[name].map((each) => (typeof each === "number" ? texts[each] : each));
  }
  const forms = Object.entries(item.forms || {}).filter(([metric]) => own(data.forms, metric) !== undefined || item.criteria);
  item.forms = Object.fromEntries(forms.map(([metric, number]) => [metric, texts[number]]));
  return item;
}

// Labels need their cases when they are downloaded.
function holdLabelled() {
  const labelled = new Set([...labels.values()].map((label) => label.case));
  for (const entry of cases) if (labelled.has(entry.id)) heldEntries.set(entry.id, entry);
}

// Labels of an earlier visit may be about cases that the page does not keep.
async function fetchLabelled() {
  await whole;
  const known = new Set(cases.map(({ id }) => id));
  for (const id of new Set([...labels.values()].map((label) => label.case))) {
    if (known.has(id) || heldEntries.has(id)) continue;
    try {
      const found = await ask("/api/cases", { case: id });
      for (const item of found.cases) heldEntries.set(id, digestOf(withTexts(item, found.texts), 0));
    } catch {
      return; // the server does not answer
    }
  }
  drawKept();
}

// A link to a case that the page does not keep.
function followWindow(entry) {
  const { open } = state;
  if (!entry && open !== null) showWindow(0, { case: open }).then((found) => found && found.length && openCase(found[0], { push: false }));
  return false;
}

views.push({ start: buildWindows, follow: followWindow, keys: {} });
