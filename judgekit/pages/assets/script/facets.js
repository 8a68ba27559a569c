// Filters by metadata: for each field a list of its values, with how many cases each would leave.

const MOST_NAMED = 2;

const valueName = (value) => (value === null ? "(none)" : value === "" ? "(empty)" : shortened(value));

const allValues = (facet) => (facet.missing ? [...facet.values, null] : facet.values);

function facetMenu(facet) {
  const chosen = h("span", { class: "chosen" });
  const menu = h("details", { class: "facet", "data-facet": facet.name }, h("summary", null, h("bdi", null, facet.name), chosen));
  const boxes = allValues(facet).map((value) => {
    const box = h("input", { type: "checkbox", on: { change: () => chooseFacet(facet, value, box.checked) } });
    const count = h("b");
    return { value, box, count, line: h("label", null, box, h("span", { dir: "auto" }, valueName(value)), count) };
  });
  const any = h("button", { type: "button", class: "clear", on: { click: () => changeFacet(facet.name, []) } }, "Any");
  append(menu, [h("fieldset", null, h("legend", { class: "unseen" }, facet.name), boxes.map(({ line }) => line), any)]);
  placeMenu(menu);
  return { facet, menu, chosen, boxes, any };
}

// An open list stays inside the page, and closes the others.
function placeMenu(menu) {
  menu.addEventListener("toggle", () => {
    menu.classList.remove("at-end");
    if (!menu.open) return;
    const list = menu.querySelector("fieldset").getBoundingClientRect();
    menu.classList.toggle("at-end", list.right > document.documentElement.clientWidth);
    for (const other of document.querySelectorAll("details.facet[open]")) if (other !== menu) other.open = false;
  });
}

function chooseFacet(facet, value, on) {
  const chosen = allValues(facet).filter((each) => (each === value ? on : isChosen(facet.name, each)));
  changeFacet(facet.name, chosen);
}

function changeFacet(name, chosen) {
  const wanted = new Map(state.facets);
  if (chosen.length) wanted.set(name, chosen);
  else wanted.delete(name);
  change({ facets: wanted }, { push: true });
}

const isChosen = (name, value) => (state.facets.get(name) || []).includes(value);

// Shows what is chosen, and the counts: a Map value -> cases for every facet.
function drawFacets(menus, counts) {
  menus.forEach(({ facet, menu, chosen, boxes, any }, place) => {
    const wanted = state.facets.get(facet.name) || [];
    for (const { value, box, count, line } of boxes) {
      const found = counts[place].get(value) || 0;
      box.checked = wanted.includes(value);
      count.textContent = found.toLocaleString("en");
      line.classList.toggle("zero", !found);
    }
    const named = wanted.slice(0, MOST_NAMED).map(valueName).join(", ");
    const more = wanted.length > MOST_NAMED ? ` +${wanted.length - MOST_NAMED}` : "";
    chosen.replaceChildren();
    if (wanted.length) appendText(chosen, `: ${named}${more}`);
    menu.classList.toggle("on", wanted.length > 0);
    any.hidden = !wanted.length;
  });
}

// Closes an open list; returns whether there was one.
function closeFacets({ focus = false } = {}) {
  const open = document.querySelector("details.facet[open]");
  if (!open) return false;
  open.open = false;
  if (focus) open.querySelector("summary").focus();
  return true;
}

addEventListener("click", (event) => {
  if (event.target instanceof Element && !event.target.closest("details.facet")) closeFacets();
});
