// A cue on tables that are wider than their place: the side where more is fades out.

const SCROLLING = ".scroller, .wide-table, .slice-table";

function cue(box) {
  const left = box.scrollLeft > 1;
  const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
  box.classList.toggle("scrolls", left || right);
  box.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
}

const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => cue(target.closest(SCROLLING) || target)));

function watchScrolls() {
  for (const box of document.querySelectorAll(SCROLLING)) {
    box.addEventListener("scroll", () => cue(box), { passive: true });
    sizes.observe(box);
    for (const table of box.children) sizes.observe(table);
  }
}
