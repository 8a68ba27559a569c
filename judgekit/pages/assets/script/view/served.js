// What only a served page can do: fetch what was left out, and notice that its run is another one.

const { run, stamp } = document.documentElement.dataset;

async function ask(path, more) {
  const reply = await fetch(`${path}?${new URLSearchParams({ run, ...more })}`);
  const said = await reply.json();
  if (!reply.ok) throw new Error(said.problem);
  return said;
}

fetchAsked = async (id) => (await ask("/api/case", { case: id })).asked;

async function watchRun() {
  const bar = document.getElementById("changed");
  while (bar.hidden) {
    await new Promise((done) => setTimeout(done, 2000));
    if (document.hidden) continue;
    try {
      const now = await ask("/api/run", {});
      bar.hidden = now.stamp === stamp;
    } catch {
      // The server does not answer; the page stays readable.
    }
  }
}

document.getElementById("again").addEventListener("click", () => location.reload());
watchRun();
