// Which cases are shown, and in which order.

// The cases that match, and how many would with every other status and value of a facet.
function matching() {
  if (state.q && !isWhole) whole.then(refresh); // for now, all
  const terms = isWhole ? state.q.toLowerCase().split(/\s+/).filter(Boolean) : [];
  const wanted = facets.map((facet) => state.facets.get(facet.name));
  const counts = { status: new Map(), facets: facets.map(() => new Map()) };
  const found = [];
  const count = (map, value) => map.set(value, (map.get(value) || 0) + 1);
  for (const entry of cases) {
    if (!terms.every((term) => haystack(entry).includes(term))) continue;
    const misses = [];
    wanted.forEach((chosen, place) => chosen && !chosen.includes(entry.facets[place]) && misses.push(place));
    if (!misses.length) {
      count(counts.status, "all");
      for (const flag of entry.flags) count(counts.status, flag);
    }
    if (state.status !== "all" && !entry.flags.has(state.status)) continue;
    if (!misses.length) {
      found.push(entry);
      entry.facets.forEach((value, place) => count(counts.facets[place], value));
    } else if (misses.length === 1) {
      count(counts.facets[misses[0]], entry.facets[misses[0]]);
    }
  }
  return { found, counts };
}

const collator = new Intl.Collator("en", { numeric: true });

// The value a column sorts by; null for none, which comes last in either order.
function sortValue(column) {
  if (column === "id") return (entry) => entry.id;
  if (column === "input-order") return (entry) => entry.n;
  const known = column && allColumns().find((each) => each.id === column);
  return known ? (entry) => known.value(entry) : null;
}

function sorted(entries) {
  const valueOf = sortValue(state.sort);
  if (!valueOf) return inOrder(entries);
  const turn = state.down ? -1 : 1;
  return entries
    .map((entry) => [valueOf(entry), entry])
    .sort(([a, x], [b, y]) => {
      if (a === null || b === null) return (a === null) - (b === null) || x.n - y.n;
      const order = typeof a === "number" ? a - b : collator.compare(a, b);
      return order * turn || x.n - y.n;
    })
    .map(([, entry]) => entry);
}
