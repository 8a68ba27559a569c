// The fields of one question, in the order a judge fills them in: reason, quotes, then the value.

let fieldCount = 0; // names of radio groups, never a text of somebody's

function area(label, value, changed, { rows = 2, hint = "" } = {}) {
  const field = h("textarea", { rows, placeholder: hint, spellcheck: "true" });
  field.value = value;
  field.addEventListener("input", () => changed(field.value));
  return h("label", { class: "field" }, h("span", null, label), field);
}

// Radio buttons; `options` are [value, label, meaning].
function radios(label, options, value, changed) {
  const name = "choice-" + (fieldCount += 1);
  const lines = options.map(([option, word, means], n) => {
    // The key is no part of the name.
    const input = h("input", { type: "radio", name, "data-nth": n + 1, "aria-label": means ? `${word}: ${means}` : word });
    input.checked = option === value;
    input.addEventListener("change", () => input.checked && changed(option));
    return h("label", null, input, n < 9 && h("kbd", null, String(n + 1)), h("span", { dir: "auto" }, word, means && h("span", { class: "why" }, " ", means)));
  });
  return h("div", { class: "choices", role: "radiogroup", "aria-label": label }, lines);
}

const YES_NO = [[true, "yes"], [false, "no"]];

function detailField(detail, value, changed) {
  const label = detail.text ? `${words(detail.name)}: ${detail.text}` : words(detail.name);
  if (detail.kind === "boolean") return h("div", { class: "field" }, h("span", null, label), radios(label, YES_NO, value, changed));
  const several = detail.kind === "list";
  return area(several ? label + " (one a line)" : label, asText(value), changed, { rows: several ? 2 : 1 });
}

// A criterion of the case has a name; its id is a digest.
const titleOf = (question) => question.name || question.id;

function valueField(question, said, set, means) {
  const label = "Verdict on " + titleOf(question);
  const named = asList(question.labels);
  const abstain = question.nullable ? [[null, "cannot tell", ""]] : [];
  const value = said.get("value");
  if (named.length || question.kind === "boolean") {
    const options = named.length ? named.map((word) => [word, word, own(means, word)]) : YES_NO;
    return radios(label, [...options, ...abstain], value, (chosen) => set("value", chosen));
  }
  const [least, most] = boundsOf(question);
  const input = h("input", { type: "number", min: least, max: most, step: "any", inputmode: "decimal", "aria-label": label, placeholder: `${least} to ${most}` });
  const problem = h("span", { class: "problem", role: "alert" });
  if (typeof value === "number") input.value = String(value);
  const cannot = h("input", { type: "checkbox" });
  cannot.checked = value === null;
  const take = () => {
    const number = input.value.trim() === "" ? undefined : Number(input.value);
    const wrong = input.validity.badInput || (number !== undefined && !fits(question, number));
    problem.textContent = wrong ? `a number from ${least} to ${most}` : "";
    input.setAttribute("aria-invalid", String(wrong));
    if (number !== undefined && question.nullable) cannot.checked = false;
    set("value", wrong ? undefined : number);
  };
  input.addEventListener("input", take);
  cannot.addEventListener("change", () => {
    if (cannot.checked) input.value = "";
    problem.textContent = "";
    set("value", cannot.checked ? null : undefined);
  });
  return h(
    "div",
    { class: "number" },
    input,
    h("span", { class: "n" }, `${least} to ${most}`),
    question.nullable && h("label", null, cannot, "cannot tell"),
    problem,
  );
}

// The points of a checklist: given ones, or those the labeller lists.
function checklist(question, said, set) {
  const given = asList(question.items);
  const kept = asList(said.get("items"));
  const items = given.length
    ? given.map((item) => ({ item, reason: "", met: null, ...kept.find((each) => each && each.item === item) }))
    : kept.map((each) => ({ item: asText(each && each.item), reason: asText(each && each.reason), met: each ? each.met : null }));
  const list = h("ol", { class: "points" });
  const save = () => set("items", items.map((item) => ({ ...item })));
  const point = (item) => {
    const line = h(
      "li",
      null,
      given.length ? h("p", { dir: "auto" }, item.item) : area("Point", item.item, (text) => ((item.item = text), save()), { rows: 1 }),
      area("Why", item.reason, (text) => ((item.reason = text), save()), { rows: 1 }),
      radios("Is it met?", [[true, "met"], [false, "not met"]], item.met, (met) => ((item.met = met), save())),
    );
    if (!given.length) {
      const remove = () => {
        items.splice(items.indexOf(item), 1);
        line.remove();
        save();
      };
      line.append(h("button", { type: "button", class: "clear", on: { click: remove } }, "Remove"));
    }
    return line;
  };
  append(list, items.map(point));
  if (given.length) return list;
  const none = h("input", { type: "checkbox" });
  none.checked = said.get("none") === true;
  none.addEventListener("change", () => set("none", none.checked));
  const add = () => {
    const item = { item: "", reason: "", met: null };
    items.push(item);
    none.checked = false;
    set("none", false);
    const line = point(item);
    list.append(line);
    line.querySelector("textarea").focus();
  };
  return h("div", null, list, h("p", { class: "adding" }, h("button", { type: "button", class: "action add", on: { click: add } }, "Add a point"), h("label", null, none, "there are none")));
}

function quotesField(said, set) {
  const field = area("Quotes (words of the case, one a line)", asText(said.get("quotes")), (text) => set("quotes", text), { rows: 1 });
  const take = () => {
    const words = String(getSelection()).replace(/\s+/g, " ").trim();
    if (!words) return;
    const box = field.querySelector("textarea");
    box.value = [box.value.trim(), words].filter(Boolean).join("\n");
    set("quotes", box.value);
  };
  // A press would move the focus and lose what is selected.
  const button = h("button", { type: "button", class: "action", on: { mousedown: (event) => event.preventDefault(), click: take } }, "Take the selected words");
  return h("div", { class: "quoting" }, field, button);
}

function questionField(question, place, of, label, means, changed) {
  const said = label.answers.get(question.id) || new Map();
  const done = h("span", { class: "done", role: "img" });
  const mark = () => {
    const whole = answerTo(question, label.answers.get(question.id)) !== null;
    done.textContent = whole ? "✓" : "";
    done.setAttribute("aria-label", whole ? "answered" : "not answered");
  };
  const set = (name, value) => {
    if (value === undefined) said.delete(name);
    else said.set(name, value);
    label.answers.set(question.id, said);
    mark();
    changed();
  };
  const list = question.kind === "checklist";
  mark();
  return h(
    "fieldset",
    { class: "question", tabindex: "-1", "data-place": place },
    h("legend", null, h("span", { class: "n" }, `${place + 1} of ${of} `), h("strong", null, breakable(titleOf(question))), " ", done),
    question.text && h("p", { class: "asked", dir: "auto" }, question.text),
    asList(question.reference).map((example) => h("p", { class: "asked example", dir: "auto" }, h("span", { class: "why" }, "For example: "), example)),
    list ? checklist(question, said, set) : area("Why", asText(said.get("reason")), (text) => set("reason", text), { hint: "the reason first, then the verdict" }),
    question.quotes && quotesField(said, set),
    detailsOf(question).map((detail) => detailField(detail, said.get("detail " + detail.name), (value) => set("detail " + detail.name, value))),
    list ? null : valueField(question, said, set, means),
  );
}

// A verdict on the whole, of a metric that has no form to fill in.
function verdictField(metric, label, changed) {
  const set = (value) => {
    label.verdict = value === undefined ? null : value;
    changed();
  };
  const persona = own(data.personas, metric.name);
  const text = persona === undefined
    ? `Your verdict on ${metric.name}. It has no form for a person to fill in: say what it should come to.`
    : `Does the reply sound like ${persona}?`;
  const head = [h("legend", null, h("strong", null, breakable(metric.name))), h("p", { class: "asked" }, text)];
  if (metric.threshold !== null) {
    const options = persona === undefined ? [["pass", "pass"], ["fail", "fail"]] : [["pass", "on brand"], ["fail", "off brand"]];
    return h("fieldset", { class: "question", tabindex: "-1" }, head, radios("Verdict", options, label.verdict, set));
  }
  const [low, high] = metric.range;
  const question = { id: metric.name, minimum: low === null ? -Number.MAX_VALUE : low, maximum: high === null ? Number.MAX_VALUE : high };
  const said = new Map(label.verdict === null ? [] : [["value", label.verdict]]);
  return h("fieldset", { class: "question", tabindex: "-1" }, head, valueField(question, said, (_, value) => set(value), undefined));
}
