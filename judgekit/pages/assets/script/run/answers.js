// Labels as JSON Lines: full answers (`answers`), and
// plainer ones (`values`, `value`) where the form is not filled in. `judgekit agree` reads all.

const forms = new Map();

// The form of a case and metric; null where only a verdict on the whole can be given.
function formOf(entry, metric) {
  let number = own(entry.case.forms, metric);
  if (number === undefined) number = own(data.forms, metric);
  if (number === undefined) return null;
  if (!forms.has(number)) forms.set(number, JSON.parse(textOf(number)));
  return forms.get(number);
}

const detailsOf = (thing) => asList(thing.details);

function detailValue(detail, value) {
  if (detail.kind === "boolean") return typeof value === "boolean" ? value : null;
  if (detail.kind === "list") return asText(value).split("\n").map((line) => line.trim()).filter(Boolean);
  return asText(value);
}

// The answer to one question as the form wants it; null while it is not all there.
function answerTo(question, said) {
  if (!said) return null;
  const answer = [];
  const list = question.kind === "checklist";
  if (!list) answer.push(["reason", asText(said.get("reason"))]);
  if (question.quotes) answer.push(["quotes", detailValue({ kind: "list" }, said.get("quotes"))]);
  if (list) {
    const items = itemsOf(question, said);
    if (items === null) return null;
    answer.push(["items", items]);
  }
  for (const detail of detailsOf(question)) {
    const value = detailValue(detail, said.get("detail " + detail.name));
    if (value === null) return null;
    answer.push([detail.name, value]);
  }
  if (!list) {
    const value = said.get("value");
    if (value === undefined || !fits(question, value)) return null;
    answer.push(["value", value]);
  }
  return Object.fromEntries(answer);
}

function itemsOf(question, said) {
  if (said.get("none") === true) return [];
  const items = asList(said.get("items")).map((item) => ({
    item: asText(item && item.item),
    reason: asText(item && item.reason),
    met: item ? item.met : null,
  }));
  const whole = items.length > 0 && items.every(({ item, met }) => item.trim() && typeof met === "boolean");
  const all = !asList(question.items).length || items.length === question.items.length;
  return whole && all ? items : null;
}

function fits(question, value) {
  if (value === null) return Boolean(question.nullable);
  const words = asList(question.labels);
  if (words.length) return words.includes(value);
  if (question.kind === "boolean") return typeof value === "boolean";
  const [least, most] = boundsOf(question);
  return typeof value === "number" && value >= least && value <= most;
}

const boundsOf = (question) => [
  question.minimum === undefined ? 0 : question.minimum,
  question.maximum === undefined ? 1 : question.maximum,
];

// How far a form is filled in: answers in its order, and whether they are all there.
function filled(form, label) {
  const answers = [];
  for (const question of form.questions) {
    const answer = answerTo(question, label.answers.get(question.id));
    if (answer) answers.push([question, answer]);
  }
  const details = detailsOf(form).map((detail) => [detail.name, detailValue(detail, label.details.get(detail.name))]);
  const whole = answers.length === form.questions.length && details.every(([, value]) => value !== null);
  return { answers, details, whole };
}

function plainValue(answer) {
  if (!answer.items) return answer.value;
  return answer.items.length ? answer.items.filter((item) => item.met).length / answer.items.length : null;
}

// One label as an object to write; null if nothing can be written yet.
function lineOf(entry, label) {
  const head = { case: label.case, metric: label.metric, output_digest: entry.case.digest };
  const labeller = keeping.labeller.trim();
  if (labeller) head.labeller = labeller;
  const form = formOf(entry, label.metric);
  if (!form) return label.verdict === null ? null : { ...head, value: label.verdict };
  const { answers, details, whole } = filled(form, label);
  if (!answers.length) return null;
  if (!whole) return { ...head, values: Object.fromEntries(answers.map(([{ id }, answer]) => [id, plainValue(answer)])) };
  const line = { ...head, answers: Object.fromEntries(answers.map(([{ id }, answer]) => [id, answer])) };
  return details.length ? { ...line, details: Object.fromEntries(details) } : line;
}

// Every label there is, in the order of cases and metrics.
function linesOf() {
  const entries = new Map(heldEntries);
  if (labels.size) for (const entry of cases) entries.set(entry.id, entry);
  const order = new Map(data.metrics.map(({ name }, n) => [name, n]));
  return [...labels.values()]
    .filter((label) => entries.has(label.case) && order.has(label.metric))
    .map((label) => [entries.get(label.case), label])
    .sort(([a, x], [b, y]) => a.n - b.n || order.get(x.metric) - order.get(y.metric))
    .map(([entry, label]) => lineOf(entry, label))
    .filter(Boolean);
}

// Some readers take these for line ends.
const oneLine = (text) =>
  text.replace(/[\u0085\u2028\u2029]/g, (mark) => "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0"));

// Labels of single replies for `judgekit persona calibrate`: does one sound like the persona?
function personaLines() {
  if (!Object.keys(data.personas).length) return [];
  const entries = new Map([...heldEntries.values(), ...cases].map((entry) => [entry.id, entry.case]));
  return [...labels.values()].flatMap((label) => {
    const persona = own(data.personas, label.metric);
    const { output, history } = entries.get(label.case) || {};
    // A verdict on a conversation says nothing about one of its replies.
    const alone = output && !asList(history).some(({ role }) => role === "assistant");
    if (persona === undefined || label.verdict === null || !alone) return [];
    const onBrand = label.verdict === "pass" || label.verdict >= 0.5;
    const line = { text: output, label: Number(onBrand), persona_id: persona, case: label.case };
    const labeller = keeping.labeller.trim();
    return [labeller ? { ...line, labeller } : line];
  });
}

function saveLines(lines, name) {
  const text = lines.map((line) => oneLine(JSON.stringify(line)) + "\n").join("");
  const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const who = keeping.labeller.trim().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40);
  const link = h("a", { href: url, download: `${name}${who ? "-" + who : ""}.jsonl` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
