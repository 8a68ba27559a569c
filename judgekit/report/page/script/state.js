// What is shown, kept in the fragment of the address so that a link leads to the same view.

const state = { q: "", status: "all", facets: {}, sort: "", down: false, open: null };

function readState() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  state.q = wanted.get("q") || "";
  state.status = wanted.get("status") || "all";
  state.sort = wanted.get("sort") || "";
  state.down = wanted.get("order") === "down";
  state.open = wanted.get("case");
  state.facets = {};
  for (const facet of facets) {
    const value = wanted.get("meta." + facet.name);
    if (value !== null && facet.values.includes(value)) state.facets[facet.name] = value;
  }
}

function hashOf(open) {
  const parts = new URLSearchParams();
  if (state.q) parts.set("q", state.q);
  if (state.status !== "all") parts.set("status", state.status);
  for (const [name, value] of Object.entries(state.facets)) parts.set("meta." + name, value);
  if (state.sort) parts.set("sort", state.sort);
  if (state.sort && state.down) parts.set("order", "down");
  if (open !== null) parts.set("case", open);
  return parts.toString();
}

function writeState({ push = false } = {}) {
  const hash = "#" + hashOf(state.open);
  if (hash === (location.hash || "#")) return;
  const method = push ? "pushState" : "replaceState";
  history[method](null, "", hash);
}
