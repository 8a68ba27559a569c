// One case: its texts with quotes marked on one side, its results on the other.

function sidesOf(entry) {
  const quotes = quotesOf(entry);
  const talk = conversation(entry.case, quotes); // first: it finds the quotes
  return [talk, results(entry, quotes)];
}

// A line so long that to look for its direction again wherever it breaks would take seconds.
const ENDLESS = /[^\n]{20000}/;

// `letters` has the letter of an answer by its field, where a person compares two.
function conversation(item, quotes, letters = {}) {
  const headed = (name, field) => (letters[field] ? `${name}: answer ${letters[field]}` : name);
  const mark = (text, field) => marked(text, quotes, field);
  const side = h("div", { class: "talk", "aria-label": "Texts of the case", role: "region", tabindex: "0" });
  const block = (label, content, kind) =>
    side.append(h("section", { class: "turn " + (kind || "") }, h("h3", null, label), content));
  const text = (value, field) => h("div", { class: ENDLESS.test(value) ? "text endless" : "text", dir: "auto" }, value.trim() ? mark(value, field) : h("i", null, "(empty)"));

  const byKind = {
    text: (value, { name, title }) => block(headed(title, name), text(textOf(value), name), name),
    texts: (value, { name, title }) =>
      value.forEach((one, n) => block(headed(value.length > 1 ? `${title} ${n + 1}` : title, n === 0 ? name : ""), text(textOf(one), name))),
    messages: (value, { name }) =>
      value.forEach((message) =>
        block(message.name ? `${message.role} · ${message.name}` : message.role, [
          message.content ? text(message.content, name) : null,
          (message.tool_calls || []).map((call) => h("div", { class: "call" }, h("strong", null, call.name), json(call.arguments === undefined ? null : call.arguments))),
        ], "earlier"),
      ),
    object: (value, { title }) => block(title, json(value)),
  };
  // Fields that need more than their kind says.
  const special = {
    system(value, { name, title }) {
      const body = text(textOf(value), name);
      const found = body.querySelector("mark");
      side.append(h("details", { class: "turn system", open: Boolean(found) || textOf(value).length < 400 }, h("summary", null, title), body));
    },
    output(value, field) {
      if (item.baseline === undefined) return byKind.text(value, field);
      // Baseline and output side by side.
      const part = ({ name, title }) => h("section", { class: `turn ${name}` }, h("h3", null, headed(title, name)), text(item[name], name));
      const baseline = data.case_fields.find(({ name }) => name === "baseline");
      side.append(h("div", { class: "beside" }, [baseline, field].map(part)));
    },
    baseline: (value, field) => item.output === undefined && byKind.text(value, field),
    choices: (value, { title }) => block(title, h("ol", { type: "A" }, value.map((choice) => h("li", { dir: "auto" }, choice)))),
    labels: (value, { title }) => block(title, factList(value) || json(value)),
  };
  for (const field of data.case_fields) {
    const value = item[field.name];
    if (value !== undefined) (own(special, field.name) || byKind[field.kind])(value, field);
  }
  return side;
}

function results(entry, quotes) {
  const side = h("div", { class: "results", "aria-label": "Results of the case", role: "region", tabindex: "0" });
  append(side, data.metrics.map((metric, n) => metricSection(entry, metric, entry.cells[n], quotes)));
  return side;
}

// From a number in the text to the quote, and back.
drawer.addEventListener("click", (event) => {
  const to = event.target.closest("[data-to]");
  const target = to && document.getElementById(to.dataset.to);
  if (!target) return;
  target.scrollIntoView({ block: "center" });
  target.classList.remove("flash");
  requestAnimationFrame(() => target.classList.add("flash"));
});
