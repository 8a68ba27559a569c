// Labelling: a person judges the cases of the current filter one after another, and does not see
// the verdicts of the judge unless they ask.

const pane = { element: null, entry: null, metric: "", label: null };

function buildLabelling() {
  loadLabels();
  pane.element = h("div", { id: "labelling", class: "drawer labelling", role: "dialog", "aria-modal": "true", "aria-labelledby": "labelling-title", tabindex: "-1", hidden: true });
  document.body.append(pane.element);
  pane.element.addEventListener("keydown", labellingKey);
  const button = h("button", { type: "button", class: "action start-labelling", on: { click: startLabelling } }, "Label these cases");
  parts.sorting.after(button);
  pane.start = button;
  buildPane();
  // A page for labellers begins here, so that they do not see the verdicts before they label.
  const { label } = document.documentElement.dataset;
  if (label === undefined || location.hash || !cases.length) return;
  state.sort = "input-order";
  history.replaceState(null, "", "#" + hashOf(cases[0].id, label));
}

// Shows what the address asks for, if it asks for labelling.
function followLabel(entry) {
  const known = entry && data.metrics.some(({ name }) => name === state.label);
  if (known) openLabelling(entry, state.label);
  else {
    state.label = null;
    hidePane();
  }
  return Boolean(known);
}

views.push({ start: buildLabelling, follow: followLabel, keys: { l: startLabelling } });

function buildPane() {
  const labeller = h("input", { type: "text", id: "labeller", autocomplete: "off", spellcheck: "false", placeholder: "your name", maxlength: "200" });
  labeller.value = keeping.labeller;
  labeller.addEventListener("input", () => {
    keeping.labeller = labeller.value;
    clearTimeout(keeping.timer);
    keeping.timer = setTimeout(storeLabels, 250);
  });
  const metrics = h("select", { id: "label-metric" }, data.metrics.map((metric, n) => h("option", { value: n }, metric.name)));
  metrics.addEventListener("change", () => openLabelling(pane.entry, data.metrics[Number(metrics.value)].name));
  pane.metrics = metrics;
  pane.kept = h("p", { class: "kept", role: "status" });
  const download = (name, lines, text) =>
    h("button", { type: "button", class: "action", on: { click: () => saveLines(lines(), name) } }, text);
  pane.save = download("labels", linesOf, "Download labels");
  pane.save.classList.add("main");
  pane.persona = download("persona-labels", personaLines, "Download persona labels");
  pane.clear = h("button", { type: "button", class: "action", on: { click: askToClear } }, "Clear");
  pane.head = h("div", { class: "drawer-title" });
  pane.buttons = h("div", { class: "drawer-buttons" });
  pane.sides = h("div", { class: "sides" });
  pane.element.append(
    h("header", { class: "drawer-head" }, pane.head, pane.buttons),
    h(
      "div",
      { class: "label-bar" },
      h("label", null, h("span", null, "Labeller"), labeller),
      h("label", null, h("span", null, "Metric"), metrics),
      pane.kept,
      h("span", { class: "label-buttons" }, pane.save, pane.persona, pane.clear),
    ),
    pane.sides,
  );
}

function startLabelling() {
  if (!isWhole) {
    whole.then(startLabelling);
    return;
  }
  const entry = shown[selected] || shown[0];
  if (!entry) return;
  const first = data.metrics.find(({ name }) => formOf(entry, name)) || data.metrics[0];
  openLabelling(entry, pane.metric || first.name, { push: true });
}

function openLabelling(entry, metric, { push = false } = {}) {
  if (!isWhole) {
    whole.then(() => openLabelling(entry, metric, { push }));
    return;
  }
  closeCase();
  pane.entry = entry;
  pane.metric = metric;
  pane.label = labelOf(entry.id, metric);
  state.open = entry.id;
  state.label = metric;
  writeState({ push });
  const place = shown.indexOf(entry);
  if (place >= 0) select(place);
  drawPane(place);
  pane.element.hidden = false;
  document.getElementById("page").inert = true;
  document.body.classList.add("reading");
  (pane.sides.querySelector(".question textarea, .question input") || pane.element).focus({ preventScroll: true });
}

function closeLabelling() {
  hidePane();
  state.open = null;
  state.label = null;
  writeState();
  if (selected >= 0 && selected < drawn) parts.body.children[selected].focus({ preventScroll: true });
  else pane.start.focus({ preventScroll: true });
}

function hidePane() {
  if (pane.element.hidden) return;
  if (keeping.timer) storeLabels();
  pane.element.hidden = true;
  document.getElementById("page").inert = false;
  document.body.classList.remove("reading");
}

// In labels of a comparison A is the output, in whatever order a judge saw the two answers.
function lettersOf(form, result) {
  const compared = form && form.questions.some(({ labels }) => labels && labels.includes("A") && labels.includes("B"));
  if (!compared) return {};
  const names = own(own(result, "details"), "pairwise");
  return { output: "A", [own(names, "b") === "reference" ? "reference" : "baseline"]: "B" };
}

function drawPane(place) {
  const { entry, metric, label } = pane;
  const button = (name, sign, listener, disabled) =>
    h("button", { type: "button", "aria-label": name, title: name, disabled, on: { click: listener } }, sign);
  pane.metrics.value = String(data.metrics.findIndex(({ name }) => name === metric));
  pane.head.replaceChildren(h("h2", { id: "labelling-title" }, "Label ", h("bdi", null, entry.id)));
  pane.buttons.replaceChildren(
    h("span", { class: "place" }, place < 0 ? "not in the list" : `${place + 1} of ${shown.length.toLocaleString("en")}`),
    button("Previous case (k)", "↑", () => stepLabelling(-1), place <= 0),
    button("Next case (j, Ctrl Enter)", "↓", () => stepLabelling(1), place >= shown.length - 1),
    button("Close (Esc)", "✕", closeLabelling),
  );
  const changed = () => {
    keepLabel(label);
    drawKept();
  };
  const form = formOf(entry, metric);
  // Labels that came with the case are verdicts, too.
  const talk = conversation({ ...entry.case, labels: undefined }, [], lettersOf(form, own(entry.case.rows, metric)));
  const means = own(data.levels, metric);
  const known = data.metrics.find(({ name }) => name === metric);
  const fields = form
    ? form.questions.map((question, n, all) => questionField(question, n, all.length, label, question.means || own(means, question.id), changed))
    : [verdictField(known, label, changed)];
  const whole = form && detailsOf(form).length
    ? h("fieldset", { class: "question", tabindex: "-1" }, h("legend", null, h("strong", null, "On the whole")), detailsOf(form).map((detail) => detailField(detail, label.details.get(detail.name), (value) => (label.details.set(detail.name, value), changed()))))
    : null;
  const side = h("div", { class: "results label-form", role: "region", "aria-label": "Your verdicts" }, fields, whole, labelFoot());
  pane.sides.replaceChildren(talk, side);
  drawKept();
}

function labelFoot() {
  const judge = h("div", { class: "judge-said" });
  const reveal = h("button", { type: "button", class: "action reveal", on: { click: () => showJudge(judge, reveal) } }, "Show the judge's verdict");
  const next = h("button", { type: "button", class: "action main next", on: { click: () => stepLabelling(1) } }, "Next case");
  const open = h("button", { type: "button", class: "action", on: { click: nextUnlabelled } }, "Next without a label");
  return h(
    "footer",
    { class: "label-foot" },
    h("p", { class: "label-buttons" }, next, open, reveal),
    h("p", { class: "keys" }, key("Enter"), " from reason to verdict ", key("1"), "–", key("9"), " choose ", key("Ctrl"), key("Enter"), " next case ", key("Esc"), " leave a field, close"),
    judge,
  );
}

// What is seen cannot be unseen: the label says so from now on.
function showJudge(holder, button) {
  const place = data.metrics.findIndex(({ name }) => name === pane.metric);
  pane.label.looked = true;
  keepLabel(pane.label);
  holder.replaceChildren(metricSection(pane.entry, data.metrics[place], pane.entry.cells[place], quotesOf(pane.entry)));
  button.hidden = true;
  drawKept();
}

// How much is labelled, and where it is kept.
function drawKept() {
  if (!pane.kept) return;
  const lines = linesOf();
  const looked = [...labels.values()].filter((label) => label.looked && saysSomething(label)).length;
  const partly = lines.filter((line) => line.values).length;
  const said = [`${lines.length.toLocaleString("en")} label${lines.length === 1 ? "" : "s"}`];
  if (partly) said.push(`${partly} unfinished`);
  if (looked) said.push(`${looked} made after seeing the judge`);
  said.push(keeping.stored ? "kept in this browser until you clear them" : "NOT kept by this browser: download them before you close the page");
  const text = said.join(" · ");
  if (pane.kept.textContent !== text) pane.kept.textContent = text;
  pane.kept.classList.toggle("warn", !keeping.stored);
  pane.save.disabled = !lines.length;
  pane.persona.hidden = !personaLines().length;
  pane.clear.hidden = ![...labels.values()].some(saysSomething);
}

function askToClear() {
  if (pane.clear.dataset.sure !== "yes") {
    pane.clear.dataset.sure = "yes";
    pane.clear.textContent = "Clear all labels? Press again";
    setTimeout(() => {
      delete pane.clear.dataset.sure;
      pane.clear.textContent = "Clear";
    }, 4000);
    return;
  }
  clearLabels();
  openLabelling(pane.entry, pane.metric);
}

function stepLabelling(by) {
  const next = shown[shown.indexOf(pane.entry) + by];
  if (next) openLabelling(next, pane.metric);
}

function nextUnlabelled() {
  const from = shown.indexOf(pane.entry) + 1;
  const isOpen = (entry) => !labels.has(labelKey(entry.id, pane.metric)) || !lineOf(entry, labelOf(entry.id, pane.metric));
  const next = shown.slice(from).find(isOpen) || shown.slice(0, from).find(isOpen);
  if (next) openLabelling(next, pane.metric);
}

function labellingKey(event) {
  if (event.isComposing) return;
  const { target } = event;
  const question = target.closest(".question");
  const typing = target.matches("textarea, input:not([type=radio]):not([type=checkbox]), select");
  const stop = () => (event.preventDefault(), event.stopPropagation());
  event.stopPropagation();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    stop();
    stepLabelling(1);
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key === "Escape") {
    stop();
    if (typing && question) question.focus();
    else closeLabelling();
  } else if (event.key === "Enter" && question && target.matches("textarea, input") && !event.shiftKey) {
    stop();
    focusAfter(target);
  } else if (typing) {
    return;
  } else if (/^[1-9]$/.test(event.key) && question) {
    const group = target.closest(".choices") || question.querySelector(":scope > .choices") || question.querySelector(".choices");
    const choice = group && group.querySelector(`[data-nth="${event.key}"]`);
    if (!choice) return;
    stop();
    choice.click();
    focusAfter(group.lastElementChild.querySelector("input"));
  } else if (event.key === "j" || event.key === "k") {
    stop();
    stepLabelling(event.key === "j" ? 1 : -1);
  }
}

// On to the next field: a group of choices is one, by its chosen or first button.
function focusAfter(target) {
  const stops = [...pane.sides.querySelectorAll(".label-form :is(textarea, input, .add, .next)")].filter(
    (each) => each.type !== "radio" || isStop(each),
  );
  const group = target.name && target.type === "radio" ? target.name : null;
  const at = stops.findIndex((each) => each === target || (group && each.name === group));
  const next = stops[at + 1];
  if (next) next.focus();
}

function isStop(radio) {
  const group = [...radio.closest(".choices").querySelectorAll("input")];
  return radio === (group.find((each) => each.checked) || group[0]);
}
