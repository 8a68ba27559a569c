// The columns of the table of cases: which there are, and which of them are shown.

const COLUMNS = 9; // of metrics and metadata together, unless others are chosen
const MOST_FIELDS = 100; // metadata fields to offer
const LONGEST = 60; // characters of a metadata value in a cell
const STORED = "judgekit-columns";

// Column -> whether it is shown, where a person chose so; other columns are shown by their default.
const chosenColumns = new Map();

const shortened = (value) => (value.length > LONGEST ? value.slice(0, LONGEST - 1) + "…" : value);

let columnsMade = null;

// {id, name, group, kind: class of its cells, usual: shown by default, downFirst, value(entry), cell(entry)}
function allColumns() {
  if (columnsMade) return columnsMade;
  const facetPlaces = new Map(facets.map(({ name }, place) => [name, place]));
  const fields = new Set(facetPlaces.keys());
  for (const { case: item } of cases) {
    if (fields.size >= MOST_FIELDS) break;
    for (const name of Object.keys(item.metadata || {})) fields.add(name);
  }
  const usualFields = Math.max(1, Math.min(5, COLUMNS - data.metrics.length));
  const line = (id, name, value) => ({ id, name, group: "Texts", kind: "line", usual: true, value: (entry) => value(entry) || null, cell: (entry) => h("span", null, value(entry)) });
  const metric = (one, place) => ({
    id: "metric." + one.name, name: one.name, group: "Metrics", kind: "num", usual: true, downFirst: !one.higher,
    value: (entry) => entry.cells[place].value ?? null,
    cell: (entry) => cellContent(entry.cells[place], one),
    tone: (entry) => toneOf(entry.cells[place]),
  });
  const field = (name) => ({
    id: "meta." + name, name, group: "Metadata", kind: "meta", usual: (facetPlaces.get(name) ?? Infinity) < usualFields,
    value: facetPlaces.has(name) ? (entry) => entry.facets[facetPlaces.get(name)] : (entry) => metadataText(entry.case, name),
    cell(entry) {
      const value = this.value(entry);
      return value === null ? "–" : breakable(shortened(value));
    },
  });
  columnsMade = [
    line("input", "Input", (entry) => entry.line),
    cases.some((entry) => entry.out) && line("output", "Output", (entry) => entry.out || ""),
    ...data.metrics.map(metric),
    ...data.metrics.flatMap((one, place) => (one.criteria || []).map((id) => criterionColumn(one, place, id))),
    ...[...fields].slice(0, MOST_FIELDS).map(field),
  ].filter(Boolean);
  return columnsMade;
}

// A criterion of a metric; a large page has its answers only once all texts are here.
function criterionColumn(metric, place, id) {
  const partOf = (entry) => ((entry.cells[place].result || {}).parts || []).find((part) => part.id === id);
  return {
    id: `part.${metric.name}.${id}`, name: id, group: metric.name, kind: "num part", usual: false, parts: true,
    value: (entry) => partOf(entry)?.value ?? null,
    cell(entry) {
      const part = partOf(entry);
      if (!part) return isWhole ? "–" : "…";
      if ((part.status || "scored") !== "scored") return chip("quiet", words(part.status));
      return [h("span", { class: "value", title: part.reason }, rounded(part.value).toFixed(2)), shareBar(part.value)];
    },
  };
}

function metadataText(item, name) {
  const value = own(item.metadata, name);
  return value === undefined || value === null ? null : say(value);
}

const isShown = (column) => chosenColumns.get(column.id) ?? column.usual;

const shownColumns = () => allColumns().filter(isShown);

// What comes back from the storage is only data: names and whether they are shown.
function readColumns() {
  try {
    for (const [id, on] of Object.entries(JSON.parse(localStorage.getItem(STORED) || "{}"))) chosenColumns.set(id, on === true);
  } catch {
    // The browser keeps nothing, or something else; the usual columns are shown.
  }
}

function chooseColumn(column, on) {
  if (on === column.usual) chosenColumns.delete(column.id);
  else chosenColumns.set(column.id, on);
  try {
    localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(chosenColumns)));
  } catch {
    // The choice holds until the page is left.
  }
  if (column.parts && !isWhole) whole.then(refresh);
  refresh();
}

// The list of columns is filled when it is first opened.
function columnMenu() {
  readColumns();
  const box = h("fieldset", null, h("legend", { class: "unseen" }, "Columns"));
  const menu = h("details", { class: "facet columns" }, h("summary", null, "Columns"), box);
  const boxes = new Map();
  const fill = () => {
    let group = "";
    for (const column of allColumns()) {
      if (column.group !== group) box.append(h("p", { class: "legend" }, (group = column.group)));
      const check = h("input", { type: "checkbox", on: { change: () => chooseColumn(column, check.checked) } });
      check.checked = isShown(column);
      boxes.set(column, check);
      box.append(h("label", null, check, h("span", { dir: "auto" }, column.name)));
    }
    const usual = () => {
      chosenColumns.clear();
      chooseColumn(allColumns()[0], allColumns()[0].usual);
      for (const [column, check] of boxes) check.checked = isShown(column);
    };
    box.append(h("button", { type: "button", class: "clear", on: { click: usual } }, "The usual columns"));
  };
  menu.addEventListener("toggle", () => menu.open && !boxes.size && fill());
  placeMenu(menu);
  return menu;
}
