// On paper nothing can be unfolded, so figures are open while the page is printed.

let unfolded = [];

addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll(".slices details, details.maker, details.worst")].filter((each) => !each.open);
  for (const each of unfolded) each.open = true;
});

addEventListener("afterprint", () => {
  for (const each of unfolded) each.open = false;
  unfolded = [];
});
