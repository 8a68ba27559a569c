// Which of several runs the table and the drawer hold against the base.

const choice = document.getElementById("against");

if (choice) {
  document.getElementById("choice").hidden = false;
  choice.addEventListener("change", () => {
    change({ run: Number(choice.value) });
  });
  const show = () => {
    choice.value = String(state.run);
  };
  addEventListener("hashchange", () => setTimeout(show));
  document.addEventListener("readystatechange", show);
  new MutationObserver(show).observe(document.documentElement, { attributeFilter: ["data-ready"] });
}

// Paper cannot be unfolded.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("#page details.grids")) folded.open = true;
});
