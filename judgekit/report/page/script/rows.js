// Which cases are shown, and in which order.

function matching() {
  const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = facets
    .map((facet, place) => [place, own(state.facets, facet.name)])
    .filter(([, value]) => value !== undefined);
  return cases.filter(
    (entry) =>
      (state.status === "all" || entry.flags.has(state.status)) &&
      wanted.every(([place, value]) => entry.facets[place] === value) &&
      terms.every((term) => haystack(entry).includes(term)),
  );
}

const collator = new Intl.Collator("en", { numeric: true });

// The value a column sorts by; null for none, which comes last in either order.
function sortValue(column) {
  if (column === "id") return (entry) => entry.id;
  if (column === "input") return (entry) => entry.line || null;
  const metric = data.metrics.findIndex((each) => "metric." + each.name === column);
  if (metric >= 0) {
    return (entry) => (entry.cells[metric].value === undefined ? null : entry.cells[metric].value);
  }
  const facet = facets.findIndex((each) => "meta." + each.name === column);
  return facet >= 0 ? (entry) => entry.facets[facet] : null;
}

function sorted(entries) {
  const valueOf = sortValue(state.sort);
  if (!valueOf) return entries;
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
