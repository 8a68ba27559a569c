// A run while it writes: figures so far, fetched again every second, and its page when it is done.

const PAUSE = 1000;
const { run } = document.documentElement.dataset;
const place = (id) => document.getElementById(id);
const samples = []; // [seconds, cases] of the last half minute
let tag = null;

async function look() {
  const reply = await fetch("/api/run?" + new URLSearchParams({ run }), { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (reply.status === 304) return true;
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.problem);
  tag = reply.headers.get("ETag");
  if (found.state === "finished" || found.state === "damaged") {
    location.reload();
    return false;
  }
  draw(found);
  return true;
}

function draw(found) {
  const progress = found.progress || { cases: 0, metrics: [], latest: [], skipped: 0 };
  const stopped = found.state === "stopped";
  place("verdict").className = "verdict " + (stopped ? "incomplete" : "complete");
  place("word").textContent = stopped ? "Stopped" : "Running";
  place("said").textContent = sentence(progress, stopped);
  place("metrics").replaceChildren(progress.metrics.length ? figures(progress.metrics) : h("p", { class: "legend" }, "Nothing is scored yet."));
  place("latest").replaceChildren(progress.latest.length ? latest(progress) : h("p", { class: "legend" }, "No case is done yet."));
}

function sentence(progress, stopped) {
  const now = performance.now() / 1000;
  samples.push([now, progress.cases]);
  while (samples.length > 2 && now - samples[0][0] > 30) samples.shift();
  const count = `${progress.cases.toLocaleString("en")} case${progress.cases === 1 ? "" : "s"} done`;
  const odd = progress.skipped ? ` ${progress.skipped.toLocaleString("en")} lines cannot be read.` : "";
  if (stopped) return `${count}, and the run stopped before its report. Run it again into the same folder: it reuses recorded replies.${odd}`;
  const [then, before] = samples[0];
  const rate = now - then > 2 && progress.cases > before ? (progress.cases - before) / (now - then) : null;
  const speed = rate === null ? "" : rate >= 1 ? `, ${Math.round(rate).toLocaleString("en")} a second` : `, ${Math.round(rate * 60)} a minute`;
  return `${count}${speed}.${odd}`;
}

function figures(metrics) {
  const states = (metric) => Object.entries(metric.states).map(([name, count]) => `${count.toLocaleString("en")} ${name}`).join(", ");
  return h(
    "table",
    { class: "live" },
    h("caption", { class: "unseen" }, "Figures so far"),
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Metric"), h("th", { scope: "col", class: "num" }, "Mean"), h("th", { scope: "col", class: "num" }, "Scored"), h("th", { scope: "col" }, "Not scored"))),
    h("tbody", null, metrics.map((metric) => h("tr", null, h("th", { scope: "row" }, breakable(metric.name)), h("td", { class: "num" }, metric.mean), h("td", { class: "num" }, metric.n.toLocaleString("en")), h("td", null, states(metric) || "–")))),
  );
}

function latest(progress) {
  const names = progress.metrics.map((metric) => metric.name);
  return h(
    "table",
    { class: "live" },
    h("caption", { class: "unseen" }, "Cases that were done last"),
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Case"), h("th", { scope: "col", class: "line" }, "Input"), names.map((name) => h("th", { scope: "col", class: "num" }, breakable(name))))),
    h("tbody", null, progress.latest.map((entry) => h("tr", null, h("th", { scope: "row" }, h("bdi", null, entry.id)), h("td", { class: "line", dir: "auto" }, entry.line), names.map((name) => h("td", { class: "num" }, Object.hasOwn(entry.values, name) ? entry.values[name] : "–"))))),
  );
}

async function start() {
  for (;;) {
    try {
      if (!document.hidden && !(await look())) return;
      document.documentElement.dataset.ready = "yes";
    } catch {
      place("word").textContent = "No answer";
      place("said").textContent = "judgekit view does not answer; what is here is as it was.";
      tag = null;
    }
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}

start();
