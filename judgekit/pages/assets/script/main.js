// Start, and the keyboard.

function follow() {
  readState();
  refresh();
  const { open } = state;
  const entry = open === null ? undefined : cases.find((each) => each.id === open);
  const taken = views.some((view) => view.follow(entry));
  if (!entry) closeCase();
  if (!entry || taken) {
    if (!entry) state.open = null;
    if (!entry && open !== null && data.of) parts.count.textContent = plain(`${open} is not among ${parts.count.textContent}`);
    return;
  }
  const place = shown.indexOf(entry);
  if (place >= 0) select(place);
  openCase(entry, { push: false });
}

const isTyping = (target) => target instanceof HTMLElement && Boolean(target.closest("input, select, textarea"));

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape") {
    if (!drawer.hidden) closeCase();
    else if (closeFacets({ focus: true })) return;
    else if (event.target === parts.search) parts.search.blur();
    return;
  }
  if (isTyping(event.target)) return;
  if (event.key === "j" || event.key === "k") {
    step(event.key === "j" ? 1 : -1);
  } else if (drawer.hidden && views.some((view) => own(view.keys, event.key))) {
    for (const view of views) own(view.keys, event.key)?.();
  } else if (event.key === "/") {
    parts.search.focus();
    parts.search.select();
  } else if (event.key === "Enter" && drawer.hidden && !event.target.closest("button, summary, a")) {
    const line = event.target.closest("tr[data-place]");
    if (line) select(Number(line.dataset.place));
    if (selected < 0) return;
    openCase(shown[selected]);
  } else {
    return;
  }
  event.preventDefault();
}

// Slices and counts of failing cases link to their cases.
addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest(".slice-table a, .to-cases")) {
    document.getElementById("cases").scrollIntoView();
  }
});

async function start() {
  const loading = document.getElementById("loading");
  loading.hidden = false;
  try {
    await readData();
  } catch (error) {
    loading.textContent = error.message;
    loading.className = "notice";
    return;
  }
  loading.remove();
  buildBrowser();
  watchScrolls();
  for (const view of views) view.start();
  follow();
  addEventListener("hashchange", follow);
  addEventListener("keydown", onKey);
  document.documentElement.dataset.ready = "yes";
  await whole;
  document.documentElement.dataset.whole = "yes";
}

start();
