// Elements are built, never parsed: text reaches the page as text nodes only.

const UNSEEN = /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e01ef}])\1*/gu;

const nameOf = (run) => {
  const code = run.codePointAt(0);
  const times = [...run].length;
  const name = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
  return times > 1 ? `⟨${name} ×${times}⟩` : `⟨${name}⟩`;
};

// A text for attributes and single lines, with unseen characters named.
const plain = (text) => String(text).replace(UNSEEN, nameOf);

// Appends a text; unseen characters become visible labels.
function appendText(parent, text) {
  let last = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > last) parent.append(text.slice(last, found.index));
    const label = document.createElement("span");
    label.className = "unseen-char";
    label.textContent = nameOf(found[0]);
    parent.append(label);
    last = found.index + found[0].length;
  }
  if (last < text.length) parent.append(last ? text.slice(last) : text);
}

function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.append(child);
    else appendText(parent, String(child));
  }
  return parent;
}

// h("td", {class: "num"}, "1"): an element with attributes, listeners (`on`) and children.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else {
      element.setAttribute(name, value === true ? "" : plain(value));
    }
  }
  return append(element, children);
}

const chip = (tone, text, title) => h("span", { class: "chip " + tone, title }, text);

// A thin bar that shows a share of 0..1.
function shareBar(share, tone) {
  const fill = h("span", { class: "fill " + (tone || "") });
  fill.style.width = Math.max(0, Math.min(1, share)) * 100 + "%";
  return h("span", { class: "bar", "aria-hidden": "true" }, fill);
}

// A long id keeps its beginning and its end.
const LONG_ID = 40;
const shortId = (id) => (id.length > LONG_ID ? [h("span", { class: "id-head" }, breakable(id.slice(0, 16))), "…", breakable(id.slice(-20))] : breakable(id));

const words = (text) => String(text).replaceAll("_", " ");

// Long names may break after their joints.
const breakable = (name) =>
  String(name).split(/(?<=[_.\-/])/).flatMap((piece, n) => (n ? [h("wbr"), piece] : [piece]));

// A value of JSON in a word, if it fits one.
function say(value) {
  if (value === null || value === undefined) return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

const json = (value) => h("pre", { class: "json", dir: "ltr" }, JSON.stringify(value, null, 1));

function fold(title, build, open) {
  const details = h("details", { open }, h("summary", null, title));
  const fill = () => {
    if (details.open && details.childElementCount === 1) append(details, [build()]);
  };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}

function copyButton(text, what) {
  const button = h("button", { type: "button", class: "copy", "aria-label": "Copy " + what }, "Copy");
  button.addEventListener("click", async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(button.previousElementSibling);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}
