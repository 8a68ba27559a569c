// Several opinions on one case: who answered what, and how probable each answer is.

function opinionTable(result) {
  const opinions = result.opinions || [];
  if (!opinions.length) return null;
  const has = (name) => opinions.some((opinion) => opinion[name]);
  const criteria = [...new Set(opinions.flatMap((opinion) => Object.keys(opinion.answers || {})))];
  const columns = [
    has("of") && ["Text", (opinion) => opinion.of],
    has("member") && ["Judge", (opinion) => opinion.member],
    has("sample") && ["Sample", (opinion) => String((opinion.sample || 0) + 1)],
    has("order") && ["Order", (opinion) => opinion.order || "written"],
    ["Value", (opinion) => (typeof opinion.value === "number" ? rounded(opinion.value).toFixed(2) : "–")],
    ...criteria.map((name) => [name, (opinion) => answerOf(opinion, name)]),
    ["Reason", (opinion) => opinion.message || reasonOf(result, opinion, criteria)],
  ].filter(Boolean);
  return fold(`${opinions.length} opinions`, () =>
    h(
      "div",
      { class: "wide-table", role: "region", tabindex: "0", "aria-label": "Opinions" },
      h(
        "table",
        { class: "asks opinions" },
        h("thead", null, h("tr", null, columns.map(([name]) => h("th", { scope: "col" }, breakable(name))))),
        h("tbody", null, opinions.map((opinion) => h("tr", null, columns.map(([, cell]) => h("td", { dir: "auto" }, cell(opinion)))))),
      ),
    ),
  );
}

function answerOf(opinion, name) {
  if (opinion.failure) return chip("bad", words(opinion.failure));
  const answer = own(opinion.answers || {}, name);
  return answer === undefined || answer === null ? chip("quiet", "no answer") : say(answer);
}

function reasonOf(result, opinion, criteria) {
  const judgments = (opinion.judgments || []).map((place) => (result.judgments || [])[place]).filter(Boolean);
  const reasons = criteria.map((name) => judgments.map((judgment) => (own(judgment.answers || {}, name) || {}).reason).find(Boolean));
  const exchanged = (opinion.order || "").endsWith("swapped") ? "(the other answer shown first) " : "";
  return exchanged + reasons.filter(Boolean).join(" · ");
}

// The probability of each answer, with its source and the mass of legal answers.
function distributionLine(distribution) {
  if (!distribution) return null;
  const mass = distribution.mass === undefined ? 1 : distribution.mass;
  return h(
    "p",
    { class: "distribution" },
    distribution.labels.map((label, place) =>
      h("span", { class: "choice" }, h("bdi", null, label === null ? "cannot tell" : say(label)), ` ${(distribution.probabilities[place] * 100).toFixed(0)} %`),
    ),
    h("span", { class: "why" }, `from ${distribution.source}${mass < 0.8 ? `; legal answers have ${(mass * 100).toFixed(0)} % of the probability` : ""}`),
  );
}
