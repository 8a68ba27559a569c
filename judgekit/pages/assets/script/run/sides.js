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

  if (item.system !== undefined) {
    const body = text(textOf(item.system), "system");
    const found = body.querySelector("mark");
    side.append(h("details", { class: "turn system", open: Boolean(found) || textOf(item.system).length < 400 }, h("summary", null, "System prompt"), body));
  }
  for (const message of item.history || []) {
    block(message.name ? `${message.role} · ${message.name}` : message.role, [
      message.content ? text(message.content, "history") : null,
      (message.tool_calls || []).map((call) => h("div", { class: "call" }, h("strong", null, call.name), json(call.arguments === undefined ? null : call.arguments))),
    ], "earlier");
  }
  if (item.input !== undefined) block("Input", text(item.input, "input"), "input");
  const answers = ["baseline", "output"].filter((field) => item[field] !== undefined);
  if (answers.length === 2) {
    // Baseline and output side by side.
    const part = (field) => h("section", { class: `turn ${field}` }, h("h3", null, headed(field === "output" ? "Output" : "Baseline", field)), text(item[field], field));
    side.append(h("div", { class: "beside" }, answers.map(part)));
  } else if (answers.length) {
    block(headed(answers[0] === "output" ? "Output" : "Baseline", answers[0]), text(item[answers[0]], answers[0]), answers[0]);
  }
  (item.reference || []).forEach((value, n, all) => block(headed(all.length > 1 ? `Reference ${n + 1}` : "Reference", n === 0 ? "reference" : ""), text(value, "reference")));
  (item.context || []).forEach((value, n, all) => block(all.length > 1 ? `Context ${n + 1}` : "Context", text(textOf(value), "context")));
  if (item.choices) block("Choices", h("ol", { type: "A" }, item.choices.map((choice) => h("li", { dir: "auto" }, choice))));
  if (item.expected) block("Expected", json(item.expected));
  if (item.labels) block("Human labels", factList(item.labels) || json(item.labels));
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
