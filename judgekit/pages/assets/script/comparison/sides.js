// One case: the question, both answers and their results, side by side.

let together = false; // whether both answers are shown as one text

function sidesOf(entry) {
  const item = entry.case;
  const run = state.run + 1;
  const pane = h("div", { class: "pane", role: "region", tabindex: "0", "aria-label": "The case in both runs" });
  const fate = item.fate[state.run];
  if (fate === "only_base" || fate === "only_new") {
    pane.append(h("p", { class: "caution" }, `This case is only in ${fate === "only_base" ? data.runs[0] : data.runs[run]}.`));
  } else if (fate === "other" && item.left_out && item.left_out[state.run].length) {
    pane.append(h("p", { class: "caution" }, "The case has other criteria in the new run, so its scores are not compared."));
  } else if (fate === "other") {
    pane.append(h("p", { class: "caution" }, "The runs have another case under this id, so its scores are not compared."));
  } else if (fate === null) {
    pane.append(h("p", { class: "caution" }, "This case is in neither of these runs."));
  }
  if (data.pages.length) pane.append(h("p", { class: "legend" }, "All that is known of this case: ", pageLink(item, 0), " · ", pageLink(item, run)));
  if (item.asked) {
    pane.append(asked(item, run));
    append(pane, [steps(item, run)]);
    if (item.said[0] || item.said[run]) pane.append(answers(item, run));
  } else {
    pane.append(h("p", { class: "legend" }, "Its texts were left out to keep the page small; they are on the pages of the runs."));
  }
  append(pane, data.metrics.map((metric, m) => metricSection(item, metric, entry.cells[m], run, isCompared(item, m, state.run))));
  return pane;
}

// Where a server has the page of a run, with prompts and replies; the run may lack the case.
const pageLink = (item, run) =>
  item.v[run] ? h("a", { href: `${data.pages[run]}#${new URLSearchParams({ case: item.id })}` }, h("bdi", null, data.runs[run])) : h("bdi", null, data.runs[run]);

// -- what was asked ---------------------------------------------------------------

function asked(item, run) {
  const other = own(item.other, String(run));
  const section = h("section", { class: "asked-of" });
  if (!other) return append(section, [questions(item.asked)]);
  const changed = { ...item.asked };
  for (const [name, value] of Object.entries(other)) {
    if (value === null) delete changed[name];
    else changed[name] = value;
  }
  return append(section, [columns(run, questions(item.asked), questions(changed))]);
}

function questions(item) {
  const turn = (label, content, kind) => h("section", { class: "turn " + (kind || "") }, h("h4", null, label), content);
  const text = (value) => editedText([["=", value.trim() ? value : ""]], "", "Text");
  const folded = (label, build, long) => h("div", { class: "turn" }, fold(label, build, !long));
  const byKind = {
    text: (value, { title }) => folded(title, () => text(textOf(value)), true),
    texts: (value, { title }) => folded(`${title} (${value.length})`, () => value.map((one) => text(textOf(one))), true),
    messages: (value, { title }) =>
      folded(`${title} (${value.length})`, () => value.map((message) => turn(message.role, text(message.content || ""), "earlier")), true),
    object: (value, { title }) => folded(title, () => json(value), true),
  };
  // Fields that need more than their kind says.
  const special = {
    system: (value, { title }) => folded(title, () => text(textOf(value)), textOf(value).length > 300),
    input: (value, { name, title }) => turn(title, text(value), name),
    choices: (value, { title }) => folded(title, () => h("ol", { type: "A" }, value.map((choice) => h("li", { dir: "auto" }, choice))), true),
  };
  return data.case_fields
    .filter(({ name }) => item[name] !== undefined)
    .map((field) => (own(special, field.name) || byKind[field.kind])(item[field.name], field));
}

// What the assistants did before they answered.
function steps(item, run) {
  const [base, other] = [0, run].map((n) => (item.steps || [])[n]);
  if (!base && !other) return null;
  const one = (message) =>
    h(
      "div",
      { class: "turn earlier" },
      h("h5", null, message.name ? `${message.role} · ${message.name}` : message.role),
      message.content ? editedText([["=", message.content]], "", "Text") : null,
      (message.tool_calls || []).map((call) => h("div", { class: "call" }, h("strong", null, call.name), json(call.arguments === undefined ? null : call.arguments))),
    );
  const all = (messages) => h("div", null, messages ? messages.map(one) : h("p", { class: "legend" }, "No steps."));
  const alike = JSON.stringify(base) === JSON.stringify(other);
  const counts = alike ? `${base.length}, the same in both runs` : [base, other].map((each) => (each || []).length).join(" and ");
  return fold(`Steps before the answer (${counts})`, () => (alike ? all(base) : columns(run, all(base), all(other))));
}

// -- the answers --------------------------------------------------------------------

function columns(run, left, right) {
  return h(
    "div",
    { class: "columns" },
    h("section", { "aria-label": "Base" }, h("h4", null, data.runs[0]), left),
    h("section", { "aria-label": "New" }, h("h4", null, data.runs[run]), right),
  );
}

const missing = () => h("p", { class: "legend" }, "Not in this run.");

function answers(item, run) {
  const section = h("section", { class: "answers" });
  const edits = own(item.edits, String(run));
  const there = item.out !== null && item.out !== undefined;
  if (!item.said[0] || !item.said[run]) {
    // The texts are those of the first run that has the case; a third one may differ from it.
    const whole = editedText(piecesOf(item.out || "", edits), edits ? "-" : "+", "Answer");
    return append(section, [h("h3", null, "Answer"), item.said[0] ? columns(run, whole, missing()) : columns(run, missing(), whole)]);
  }
  if (!edits) {
    const text = there ? editedText([["=", item.out]], "", "Answer of both runs") : h("p", { class: "legend" }, "There is no answer.");
    return append(section, [h("h3", null, "The same answer in both runs"), text]);
  }
  const pieces = piecesOf(item.out || "", edits);
  const body = h("div");
  const buttons = ["Side by side", "In one text"].map((label, n) =>
    h("button", { type: "button", on: { click: () => show(n === 1) } }, label),
  );
  function show(wanted) {
    together = wanted;
    body.classList.toggle("together", together);
    buttons.forEach((button, n) => button.setAttribute("aria-pressed", String(together === (n === 1))));
    body.replaceChildren(
      together
        ? editedText(pieces, "", "Both answers in one text")
        : columns(run, editedText(pieces, "+", "Answer of the base"), editedText(pieces, "-", "Answer of the new run")),
    );
  }
  show(together);
  return append(section, [h("header", null, h("h3", null, "Answers"), h("div", { class: "statuses", role: "group", "aria-label": "How to show them" }, buttons)), body]);
}

// -- what was said ------------------------------------------------------------------

function metricSection(item, metric, cell, run, compared) {
  const section = h("section", { class: "result " + toneOf(cell), "aria-label": metric.name });
  section.append(metricHead(metric, cell, compared));
  if (!item.said) return section;
  const base = own(item.said[0], metric.name);
  const other = own(item.said[run], metric.name);
  if (base && other && same(base, other)) section.append(h("div", { class: "reasons" }, reasonOf(base, "Both runs")));
  else if (base || other) section.append(h("div", { class: "columns reasons" }, reasonOf(base, "Base"), reasonOf(other, "New")));
  const before = new Map(((base && base.parts) || []).map((part) => [part.id, part]));
  const after = new Map(((other && other.parts) || []).map((part) => [part.id, part]));
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  if (!ids.length) return section;
  const moved = (id) => valueOf(before.get(id)) !== valueOf(after.get(id));
  const rows = (wanted) => partTable(metric, wanted, before, after);
  const some = ids.filter(moved);
  const still = ids.filter((id) => !moved(id));
  if (some.length) section.append(rows(some));
  if (still.length) section.append(fold(`${still.length === 1 ? "1 criterion" : still.length + " criteria"} with the same value`, () => rows(still), !some.length && still.length < 3));
  return section;
}

// Whether two runs give the same reason; criteria follow below.
const same = (base, other) => base.kind === other.kind && base.reason === other.reason && JSON.stringify(base.fallback) === JSON.stringify(other.fallback);

const valueOf = (part) => (part === undefined ? undefined : part.value === null ? part.status : part.value);

function metricHead(metric, cell, compared) {
  const bits = [h("h3", null, breakable(metric.name))];
  const still = cell.base === cell.other || cell.value === 0;
  bits.push(h("span", { class: "value" }, shownValue(metric, cell.base), still ? null : [" → ", shownValue(metric, cell.other)]));
  if (still && cell.base !== null) bits.push(chip("quiet", "unchanged"));
  if (cell.way) {
    const [sign, words] = SIGNS[cell.way];
    bits.push(chip(cell.way === "worse" ? "bad" : "good", `${sign} ${words} ${shownStep(metric, cell).slice(1)}`));
  }
  if (cell.flip) bits.push(chip(cell.flip === "to-fail" ? "bad" : "good", cell.flip === "to-fail" ? "✗ fails now" : "✓ passes now"));
  if (!compared) bits.push(chip("quiet", "not compared"));
  return h("header", null, bits);
}

function reasonOf(result, side) {
  if (!result) return h("section", { "aria-label": side }, missing());
  return h(
    "section",
    { "aria-label": side },
    result.kind ? h("p", { class: "trouble" }, "failed: " + words(result.kind)) : null,
    result.fallback ? h("p", { class: "caution" }, h("strong", null, result.fallback.substitute), " gave a fallback value. Cause: ", result.fallback.cause) : null,
    h("p", { class: "reason", dir: "auto" }, result.reason || "–"),
  );
}

function partTable(metric, ids, before, after) {
  // A run without any criterion has no score, which is said above.
  const lacking = (parts) => h("td", { class: "legend" }, parts.size ? "not a criterion in this run" : "–");
  const side = (parts, part) => [
    h("td", { class: "num" }, part === undefined ? "–" : part.value === null ? words(part.status) : rounded(part.value).toFixed(2)),
    part === undefined
      ? lacking(parts)
      : h("td", { dir: "auto" }, typeof part.answer === "string" ? h("span", { class: "answer" }, part.answer, " · ") : null, part.reason || "–"),
  ];
  const worse = (id) => {
    const [one, other] = [before.get(id), after.get(id)];
    if (!one || !other || one.value === null || other.value === null) return "";
    const step = difference(one.value, other.value);
    return step === 0 ? "" : step < 0 ? "worse" : "better";
  };
  return h(
    "table",
    { class: "said" },
    h("caption", { class: "unseen" }, `Criteria of ${metric.name}`),
    h("thead", null, h("tr", null, ["Criterion", "Base", "Reason", "New", "Reason"].map((name, n) => h("th", { scope: "col", class: n === 1 || n === 3 ? "num" : null }, name)))),
    h("tbody", null, ids.map((id) => h("tr", { class: worse(id) }, h("th", { scope: "row", dir: "auto" }, breakable(id)), side(before, before.get(id)), side(after, after.get(id))))),
  );
}
