// Labels of a person: kept in memory and, where the browser allows it, in its storage.

const labels = new Map(); // case and metric -> label
const keeping = { labeller: "", stored: true, touched: new Set(), timer: 0 };

const labelKey = (id, metric) => JSON.stringify([id, metric]);
const storageName = () => "judgekit-labels " + (data.dataset || "");

const newLabel = (id, metric) => ({ case: id, metric, answers: new Map(), details: new Map(), verdict: null, looked: false });

const labelOf = (id, metric) => labels.get(labelKey(id, metric)) || newLabel(id, metric);

// Whatever comes back from the storage is only data: pairs of names and values, or nothing.
const pairs = (value) =>
  Array.isArray(value) && value.every((pair) => Array.isArray(pair) && typeof pair[0] === "string") ? new Map(value) : new Map();

const asText = (value) => (typeof value === "string" ? value : "");
const asList = (value) => (Array.isArray(value) ? value : []);

function packed(label) {
  const answers = [...label.answers].map(([id, answer]) => [id, [...answer]]);
  return { ...label, answers, details: [...label.details] };
}

function unpacked(value) {
  if (typeof value !== "object" || value === null) return null;
  const { case: id, metric } = value;
  if (typeof id !== "string" || typeof metric !== "string") return null;
  const label = newLabel(id, metric);
  for (const [question, answer] of pairs(value.answers)) label.answers.set(question, pairs(answer));
  label.details = pairs(value.details);
  label.verdict = ["number", "string"].includes(typeof value.verdict) ? value.verdict : null;
  label.looked = value.looked === true;
  return label;
}

function readStored() {
  const text = localStorage.getItem(storageName());
  const found = text ? JSON.parse(text) : {};
  return { labeller: asText(found.labeller), labels: asList(found.labels).map(unpacked).filter(Boolean) };
}

function loadLabels() {
  try {
    const found = readStored();
    keeping.labeller = found.labeller;
    for (const label of found.labels) labels.set(labelKey(label.case, label.metric), label);
  } catch {
    keeping.stored = canStore();
  }
}

function canStore() {
  try {
    localStorage.setItem(storageName(), "{}");
    return true;
  } catch {
    return false;
  }
}

// Puts a label aside; the storage follows a moment later.
function keepLabel(label) {
  const key = labelKey(label.case, label.metric);
  labels.set(key, label);
  keeping.touched.add(key);
  clearTimeout(keeping.timer);
  keeping.timer = setTimeout(storeLabels, 250);
}

function storeLabels() {
  clearTimeout(keeping.timer);
  keeping.timer = 0;
  try {
    // Another tab may have labelled other cases meanwhile.
    let others = [];
    try {
      others = readStored().labels;
    } catch {
      // what is there cannot be read, and is replaced
    }
    for (const label of others) {
      const key = labelKey(label.case, label.metric);
      if (!keeping.touched.has(key)) labels.set(key, label);
    }
    const all = [...labels.values()].filter(saysSomething).map(packed);
    localStorage.setItem(storageName(), JSON.stringify({ labeller: keeping.labeller, labels: all }));
    keeping.stored = true;
  } catch {
    keeping.stored = false;
  }
  drawKept();
}

function clearLabels() {
  labels.clear();
  keeping.touched.clear();
  clearTimeout(keeping.timer);
  try {
    localStorage.removeItem(storageName());
  } catch {
    // there was nothing to remove
  }
}

const saysSomething = (label) =>
  label.verdict !== null ||
  [...label.answers.values()].some((answer) => [...answer.values()].some((value) => value !== "" && value !== undefined && !(Array.isArray(value) && !value.length))) ||
  [...label.details.values()].some((value) => value !== "");

addEventListener("pagehide", () => keeping.timer && storeLabels());
