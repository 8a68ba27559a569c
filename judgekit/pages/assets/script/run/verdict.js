// Everything that explains a number: criteria, reasons, quotes, prompt, reply, key.

function metricSection(entry, metric, cell, quotes) {
  const result = cell.result;
  const section = h("section", { class: "result " + toneOf(cell), "aria-label": metric.name });
  section.append(resultHead(metric, cell));
  if (!result) return append(section, [h("p", { class: "trouble" }, "The run ended before this row.")]);
  const missing = result.kind === "cassette_miss";
  if (result.type === "failure") {
    section.append(h("p", { class: cell.state === "lacking" ? "legend" : "trouble", dir: "auto" }, result.message));
    if (result.key) section.append(keyLine(result.key, missing ? null : originOf(entry, result.key)));
    if (missing) section.append(h("p", { class: "legend" }, "No reply is recorded under this key. judgekit cassette explain SUITE shows what differs; judgekit run --record new_episodes records it."));
  } else {
    if (result.fallback) {
      section.append(
        h("p", { class: "caution" }, h("strong", null, result.fallback.substitute), " gave a fallback value. Cause: ", result.fallback.cause),
      );
    }
    if (result.reason) section.append(h("p", { class: "reason", dir: "auto" }, result.reason));
    const tree = own(own(result, "details"), "tree");
    if (result.parts) section.append(Array.isArray(tree) ? criteriaTree(metric, result.parts, quotes, tree) : criteria(metric, result.parts, quotes));
    append(section, [opinionTable(result)]);
    section.append(scoreFacts(result));
  }
  return append(section, [technical(entry, result, missing)]);
}

// Keys, prompts and raw replies, folded.
function technical(entry, result, missing) {
  const asked = new Set();
  const judgments = result.judgments || [];
  for (const judgment of judgments) asked.add(judgment.request_key);
  const blocks = () => judgments.map((judgment, n) => judgmentBlock(entry, judgment, judgments.length > 1 ? n + 1 : 0));
  const asks = result.key && !asked.has(result.key) && !missing;
  if (!judgments.length && !asks) return null;
  const many = judgments.length > 1 ? `: ${judgments.length} judgments` : "";
  return fold("Technical data" + many, () => [blocks(), asks && askedBlock(entry, result.key)]);
}

function resultHead(metric, cell) {
  const result = cell.result;
  const bits = [h("h3", null, breakable(metric.name))];
  if (cell.state === "scored") {
    bits.push(h("span", { class: "value" }, cell.shown));
    if (metric.range[0] === 0 && metric.range[1] !== null) bits.push(h("span", { class: "of" }, `of ${showNumber(metric.range[1], metric.scale)}`));
    if (cell.passes !== undefined) {
      const rule = `${metric.higher ? "≥" : "≤"} ${showNumber(metric.threshold, metric.scale)}`;
      bits.push(chip(cell.passes ? "good" : "bad", cell.passes ? `✓ passes ${rule}` : `✗ misses ${rule}`));
    }
    if (cell.band) bits.push(chip("quiet", cell.band));
    bits.push(cell.fallback ? chip("warn", "fallback") : chip("quiet", result.source === "judge" ? "judged" : "computed"));
  } else if (cell.state === "failed") {
    bits.push(chip("bad", "failed: " + words(cell.kind)));
  } else if (cell.state === "lacking") {
    bits.push(chip("quiet", cell.kind));
  } else {
    bits.push(chip(cell.state === "missing" ? "bad" : "quiet", words(cell.state === "missing" ? "no result" : cell.state)));
  }
  return h("header", null, bits);
}

function criteria(metric, list, quotes) {
  return h("ol", { class: "parts" }, list.map((part) => criterion(metric, part, quotes)));
}

const MANY_PARTS = 12;
const DEEPEST = 8;

// A tree of criteria: each node folds, with its share. Small trees are open.
function criteriaTree(metric, list, quotes, tree) {
  const byNumber = new Map(list.map((part) => [String(part.id).replace(/^criterion /, ""), part]));
  const shown = new Set();
  const branch = (node, depth) => {
    if (typeof node === "object" && node !== null && Array.isArray(node.of) && depth < DEEPEST) {
      const value = typeof node.value === "number" ? rounded(node.value).toFixed(2) : "open";
      const head = `${say(node.number)} ${say(node.text)} (${say(node.points)} points): ${value}`;
      const inside = node.of.map((child) => branch(child, depth + 1));
      return h("li", null, h("details", { open: list.length <= MANY_PARTS }, h("summary", { dir: "auto" }, head), h("ol", { class: "parts" }, inside)));
    }
    const part = byNumber.get(String(node));
    if (part) shown.add(part);
    return part ? criterion(metric, part, quotes) : null;
  };
  const branches = tree.map((node) => branch(node, 1));
  const rest = list.filter((part) => !shown.has(part)).map((part) => criterion(metric, part, quotes));
  return h("ol", { class: "parts" }, branches, rest);
}

function criterion(metric, part, quotes) {
  const status = part.status || "scored";
  const scored = status === "scored";
  const answer = part.answer;
  return h(
    "li",
    null,
    h(
      "p",
      { class: "part-head" },
      h("strong", null, breakable(part.id)),
      typeof answer === "string" || typeof answer === "boolean" ? h("span", { class: "answer" }, say(answer)) : null,
      h("span", { class: "weight" }, part.weight ? `weight ${Number((part.weight * 100).toPrecision(3))} %` : ""),
      scored ? shareBar(part.value) : null,
      h("span", { class: "part-value" }, scored ? rounded(part.value).toFixed(2) : chip("quiet", words(status))),
    ),
    distributionLine(part.distribution),
    part.reason ? h("p", { class: "reason", dir: "auto" }, part.reason) : null,
    part.items ? h("ul", { class: "items" }, part.items.map((item) => checkItem(item, answer))) : null,
    (part.quotes || []).map((quote) => quoteLine(quotes.find((each) => each.quote === quote))),
    typeof answer === "object" && answer ? json(answer) : null,
    part.details ? factList(part.details) : null,
  );
}

function checkItem(item, answer) {
  if (typeof item !== "object" || item === null || typeof item.met !== "boolean") return h("li", null, say(item));
  // Where the answer is `met` itself, the item says whether that was wanted.
  const wanted = answer === "met" || answer === "not met";
  const verdict = item.met ? (wanted ? "as wanted" : "met") : wanted ? "not as wanted" : "not met";
  return h(
    "li",
    { class: item.met ? "met" : "unmet" },
    h("span", { class: "sign", role: "img", "aria-label": verdict, title: verdict }, item.met ? "✓" : "✗"),
    h("span", { dir: "auto" }, say(item.item), item.reason ? h("span", { class: "why" }, " ", item.reason) : null),
  );
}

function quoteLine(each) {
  const { quote, number, marked } = each;
  const text = quote.text.trim() ? quote.text : "(an empty quote)";
  return h(
    "blockquote",
    { id: "quote-" + number, tabindex: "-1", class: marked ? "" : "unfound", dir: "auto" },
    marked
      ? h("button", { type: "button", class: "to-quote", "data-to": "mark-" + number, "aria-label": "Show quote in the text" }, String(number))
      : null,
    text,
    marked ? [" ", h("span", { class: "where" }, `✓ ${quote.field}`)] : [" ", chip("warn", quote.field ? `in the ${quote.field}` : "not found in the text")],
  );
}

function factList(facts) {
  const entries = Object.entries(facts).filter(([, value]) => value !== "" && !(Array.isArray(value) && !value.length));
  if (!entries.length) return null;
  return h(
    "dl",
    { class: "details" },
    entries.map(([name, value]) => {
      const list = Array.isArray(value) && value.every((each) => typeof each !== "object");
      const shownValue = list ? h("ul", null, value.map((each) => h("li", { dir: "auto" }, say(each)))) : say(value);
      return h("div", null, h("dt", null, words(name)), h("dd", { dir: "auto" }, shownValue));
    }),
  );
}

// How a value was made; what else a metric reports is folded.
function scoreFacts(result) {
  const short = Object.create(null);
  const plain = Object.create(null); // a name may be `__proto__`
  const long = Object.create(null);
  if (result.method) short.method = result.method;
  if (typeof result.confidence === "number") short.confidence = result.confidence.toFixed(2);
  // Criteria of the case are among the parts already.
  const parts = own(own(result, "details"), "possible") !== undefined;
  if (result.ground_truth !== undefined && !parts) short["ground truth"] = result.ground_truth;
  for (const [name, value] of Object.entries(result.details || {})) {
    if (name === "tree" && Array.isArray(value)) continue;
    const deep = typeof value === "object" && value !== null && JSON.stringify(value).length > 80;
    (deep ? long : plain)[name] = value;
  }
  const more = Object.keys(result.details || {}).length > 0;
  return h(
    "div",
    { class: "score-facts" },
    factList(short),
    more ? fold("Details", () => [factList(plain), Object.keys(long).length ? json(long) : null]) : null,
  );
}

const keyLine = (value, origin) =>
  h("p", { class: "key" }, h("span", null, "key "), h("code", null, value), copyButton(value, "request key"), origin && h("span", { class: "origin-of" }, origin));

// Where this run had a reply from.
function originOf(entry, wanted) {
  const record = own(entry.case.asked, wanted);
  return (record && record.origin) || data.origin || null;
}

function judgmentBlock(entry, judgment, sample) {
  const facts = [];
  if (judgment.model) facts.push(judgment.model);
  const tries = judgment.tries || 1;
  if (tries > 1) facts.push(`${tries} tries`);
  if (judgment.repairs) facts.push("repairs: " + judgment.repairs.map(words).join(", "));
  return h(
    "div",
    { class: "judgment" },
    h("p", { class: "judgment-head" }, h("strong", null, sample ? `Judgment ${sample}` : "Judgment"), " ", facts.join(" · ")),
    keyLine(judgment.request_key, originOf(entry, judgment.request_key)),
    judgment.answers ? fold("Answers", () => json(judgment.answers)) : null,
    judgment.data !== undefined ? fold("Validated object", () => json(judgment.data)) : null,
    askedBlock(entry, judgment.request_key),
  );
}

// The rendered prompt and the raw reply, or why they are not here.
function askedBlock(entry, wanted) {
  const record = own(entry.case.asked, wanted);
  if (record) return recordBlocks(record);
  if (!entry.case.asked && data.prompts === "some" && fetchAsked) return fetchedBlock(entry, wanted);
  const why =
    data.prompts === "none"
      ? "The run folder held no tape.jsonl, so prompt and raw reply are not here."
      : entry.case.asked
        ? "The tape of this run holds no record of this key."
        : "Left out to keep the page small; tape.jsonl of the run folder has prompt and reply under this key, and judgekit view shows them.";
  return h("p", { class: "legend" }, why);
}

// What the page left out, and whoever serves it has.
function fetchedBlock(entry, wanted) {
  const box = h("div");
  const button = h("button", { type: "button", class: "copy" }, "Show the rendered prompt and the raw reply");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      entry.case.asked = await fetchAsked(entry.id);
      box.replaceChildren();
      append(box, [askedBlock(entry, wanted)]);
    } catch (error) {
      button.disabled = false;
      box.replaceChildren(button, h("p", { class: "trouble" }, error.message));
    }
  });
  box.append(button);
  return box;
}

function recordBlocks(record) {
  const characters = record.messages.reduce((n, [, text]) => n + textOf(text).length, 0);
  return [
    fold(`Rendered prompt (${record.messages.length} messages, ${characters.toLocaleString("en")} characters)`, () => [
      record.messages.map(([role, text]) => h("figure", { class: "raw" }, h("figcaption", null, role), h("pre", { dir: "auto" }, textOf(text)))),
      fold("Reply schema", () => json(JSON.parse(textOf(record.form)))),
      record.params ? factList({ parameters: record.params }) : null,
    ]),
    fold(`Raw reply (${record.tries.length === 1 ? "1 try" : record.tries.length + " tries, the last one counts"})`, () => [
      record.tries.map((one, n) =>
        h(
          "figure",
          { class: "raw" },
          h("figcaption", null, `try ${n + 1}${one.finish ? " · finish: " + one.finish : ""}`),
          one.refusal ? h("p", { class: "trouble", dir: "auto" }, "Refusal: ", one.refusal) : null,
          one.text === undefined || one.text === null ? h("p", { class: "legend" }, "No text.") : h("pre", { dir: "auto" }, one.text),
        ),
      ),
      factList({
        tokens: record.usage ? `${record.usage[0].toLocaleString("en")} in, ${record.usage[1].toLocaleString("en")} out` : "unknown",
        cost: record.cost === null ? "unknown" : "$" + record.cost,
      }),
    ]),
  ];
}
