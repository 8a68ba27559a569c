// What is shown, kept in the fragment of the address so that a link leads to the same view.

// label: the metric that is being labelled, if one is.
// facets: name -> chosen values; `null` among them: cases without the field.
const state = { q: "", status: "all", facets: new Map(), sort: "", down: false, open: null, label: null, run: 0 };

// Views over the list of cases: {start(), follow(entry) -> whether it shows it, keys}.
const views = [];

function readState() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  state.q = wanted.get("q") || "";
  state.status = wanted.get("status") || "all";
  state.sort = wanted.get("sort") || "";
  state.down = wanted.get("order") === "down";
  state.open = wanted.get("case");
  state.label = wanted.get("label");
  state.facets = new Map();
  const without = wanted.getAll("without");
  state.run = Math.min(Math.max(0, (data.runs || []).length - 2), Number(wanted.get("run")) || 0);
  for (const facet of facets) {
    const chosen = wanted.getAll("meta." + facet.name).filter((value) => facet.values.includes(value));
    if (facet.missing && without.includes(facet.name)) chosen.push(null);
    if (chosen.length) state.facets.set(facet.name, chosen);
  }
}

// The address of a view; `label` only of the one that is open.
function hashOf(open, label = null) {
  const parts = new URLSearchParams();
  if (state.q) parts.set("q", state.q);
  if (state.status !== "all") parts.set("status", state.status);
  for (const [name, chosen] of state.facets) {
    for (const value of chosen) {
      if (value === null) parts.append("without", name);
      else parts.append("meta." + name, value);
    }
  }
  if (state.sort) parts.set("sort", state.sort);
  if (state.sort && state.down) parts.set("order", "down");
  if (state.run) parts.set("run", state.run);
  if (open !== null) parts.set("case", open);
  if (open !== null && label !== null) parts.set("label", label);
  return parts.toString();
}

// `push`: a new entry of the browser history.
function writeState({ push = false } = {}) {
  const hash = "#" + hashOf(state.open, state.label);
  if (hash === (location.hash || "#")) return;
  const method = push ? "pushState" : "replaceState";
  history[method](null, "", hash);
}
