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
  const text = (value, field) => reading.markdown && AS_MARKDOWN.includes(field) ? h("div", { class: "text markdown", dir: "auto" }, markdown(value)) : h("div", { class: ENDLESS.test(value) ? "text endless" : "text", dir: "auto" }, value.trim() ? mark(value, field) : h("i", null, "(empty)"));

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
    // Criteria of a case without a score are nowhere else.
    expected(value, { title }) {
      const { criteria: own, ...rest } = value;
      if (!Array.isArray(own)) return block(title, json(value));
      block(title, [Object.keys(rest).length ? json(rest) : null, fold(`${own.length} criteria`, () => json(own))]);
    },
  };
  for (const field of data.case_fields) {
    const value = item[field.name];
    if (value !== undefined) (own(special, field.name) || byKind[field.kind])(value, field);
  }
  if (item.criteria) {
    const [count, ...metrics] = item.criteria;
    block("Criteria", h("p", { class: "legend" }, `${count} criteria, under ${metrics.join(" and ")}`));
  }
  return side;
}

// What fails comes first; what passes is folded where something else does not.
const TONES = ["failed", "miss", "", "none", "pass"];
const inTones = (entry) =>
  data.metrics.map((metric, n) => ({ metric, cell: entry.cells[n], n, tone: toneOf(entry.cells[n]) })).sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone) || a.n - b.n);

function results(entry, quotes) {
  const side = h("div", { class: "results", "aria-label": "Results of the case", role: "region", tabindex: "0" });
  const several = inTones(entry);
  const folds = several.some(({ tone }) => tone !== "pass");
  const jumps = several.map(({ metric, cell, n, tone }) =>
    h("button", { type: "button", class: "to-result " + tone, "data-to": "result-" + n }, SIGN_OF[tone] || "", metric.name, " ", h("span", { class: "value" }, cell.shown || "")),
  );
  if (several.length > 1) side.append(h("nav", { class: "result-jumps", "aria-label": "Metrics" }, jumps));
  for (const { metric, cell, n, tone } of several) {
    const section = metricSection(entry, metric, cell, quotes);
    if (tone === "pass" && folds) {
      const head = section.firstChild;
      const inside = h("details", { class: "passing" }, h("summary", null, head));
      inside.append(...section.childNodes);
      section.append(inside);
    }
    section.id = "result-" + n;
    side.append(section);
  }
  return side;
}

const SIGN_OF = { miss: "✗ ", failed: "! ", pass: "✓ " };

// From a number in the text to the quote, and back.
drawer.addEventListener("click", (event) => {
  const to = event.target.closest("[data-to]");
  const target = to && document.getElementById(to.dataset.to);
  if (!target) return;
  for (let at = target; at; at = at.parentElement?.closest("details")) {
    if (at.localName === "details") at.open = true;
    else for (const inside of at.querySelectorAll(":scope > details.passing")) inside.open = true;
  }
  target.scrollIntoView({ block: target.localName === "section" ? "start" : "center" });
  target.classList.remove("flash");
  requestAnimationFrame(() => target.classList.add("flash"));
});
