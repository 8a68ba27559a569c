// One case, opened over the page in two columns.

const drawer = document.getElementById("drawer");

function openCase(entry, { push = true } = {}) {
  if (!isWhole) {
    whole.then(() => openCase(entry, { push }));
    return;
  }
  const wasOpen = !drawer.hidden;
  state.open = entry.id;
  writeState({ push: push && !wasOpen });
  drawer.replaceChildren(drawerHead(entry), h("div", { class: "sides" }, sidesOf(entry)));
  drawer.hidden = false;
  document.getElementById("page").inert = true;
  document.body.classList.add("reading");
  if (!wasOpen) drawer.focus({ preventScroll: true });
}

function closeCase() {
  if (drawer.hidden) return;
  drawer.hidden = true;
  drawer.replaceChildren();
  document.getElementById("page").inert = false;
  document.body.classList.remove("reading");
  state.open = null;
  writeState();
  if (selected >= 0 && selected < drawn) parts.body.children[selected].focus({ preventScroll: true });
}

function step(by) {
  const place = selected < 0 ? (by > 0 ? 0 : shown.length - 1) : selected + by;
  if (place < 0 || place >= shown.length) return;
  const reading = !drawer.hidden;
  select(place, { focus: !reading });
  if (reading) openCase(shown[selected]);
}

function drawerHead(entry) {
  const place = shown.indexOf(entry);
  const button = (label, sign, listener, disabled) =>
    h("button", { type: "button", "aria-label": label, title: label, disabled, on: { click: listener } }, sign);
  const metadata = Object.entries(entry.case.metadata || {});
  return h(
    "header",
    { class: "drawer-head" },
    h(
      "div",
      { class: "drawer-title" },
      h("h2", { id: "drawer-title" }, h("bdi", null, entry.id)),
      entry.case.place && h("span", { class: "tag at" }, entry.case.place),
      metadata.map(([name, value]) => h("span", { class: "tag" }, h("i", null, name + " "), h("bdi", null, shortened(say(value))))),
      entry.case.parent ? h("span", { class: "tag" }, h("i", null, "copy of "), h("bdi", null, entry.case.parent)) : null,
    ),
    h(
      "div",
      { class: "drawer-buttons" },
      typeof markdownButton === "function" && markdownButton(entry),
      h("span", { class: "place" }, place < 0 ? "not in the list" : `${place + 1} of ${shown.length.toLocaleString("en")}`),
      button("Previous case (k)", "↑", () => step(-1), place <= 0),
      button("Next case (j)", "↓", () => step(1), place >= shown.length - 1),
      button("Close (Esc)", "✕", closeCase),
    ),
  );
}

addEventListener("click", (event) => {
  // A button that draws the case again is gone by now.
  if (!drawer.hidden && event.target instanceof Element && event.target.isConnected && !event.target.closest("#drawer, #page")) closeCase();
});
