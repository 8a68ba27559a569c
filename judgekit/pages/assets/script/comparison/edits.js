// What was taken out of a text and what was put in. A script of edits says how many units of the
// first text stay (a number), how many go (a number below zero), and what comes in (a text).

function piecesOf(text, edits) {
  if (!edits) return [["=", text]];
  const pieces = [];
  let at = 0;
  for (const edit of edits) {
    if (typeof edit === "string") {
      pieces.push(["+", edit]);
    } else {
      const size = Math.abs(edit);
      pieces.push([edit < 0 ? "-" : "=", text.slice(at, at + size)]);
      at += size;
    }
  }
  return pieces;
}

const changed = (tag, word, text) =>
  h(tag, null, h("span", { class: "unseen" }, `[${word}: `), text, h("span", { class: "unseen" }, "]"));

// No browser lays out a megabyte in one go: of long texts the changes stay, with what is near them.
const LONG = 60000;
const NEAR = 1500;
const MOST_CHANGED = 8000;

const charactersOf = (pieces) => pieces.reduce((n, [, text]) => n + text.length, 0);

function abridged(pieces) {
  if (charactersOf(pieces) <= LONG) return pieces;
  const found = [];
  let left = LONG;
  const keep = (sign, text) => {
    found.push([sign, text]);
    left -= text.length;
  };
  const gap = (count, said) => count > 0 && found.push(["gap", `${count.toLocaleString("en")} characters ${said}`]);
  for (const [n, [sign, text]] of pieces.entries()) {
    if (left <= 0) {
      gap(charactersOf(pieces.slice(n)), "more");
      break;
    }
    const [head, tail] = sign === "=" ? [n || pieces.length === 1 ? NEAR : 0, n + 1 < pieces.length || pieces.length === 1 ? NEAR : 0] : [MOST_CHANGED, 0];
    if (text.length <= head + tail + NEAR) {
      keep(sign, text);
      continue;
    }
    if (head) keep(sign, text.slice(0, head));
    gap(text.length - head - tail, sign !== "=" ? "more" : pieces.length === 1 ? "left out" : "that are alike");
    if (tail) keep(sign, text.slice(-tail));
  }
  return found;
}

// A text in pieces, with what was taken out (-) and put in (+) named, not only coloured.
function editedText(pieces, without, label) {
  const box = h("div", { class: "text", dir: "auto", role: "region", "aria-label": label });
  const wanted = pieces.filter(([sign, text]) => sign !== without && text);
  for (const [sign, text] of abridged(wanted)) {
    if (sign === "=") appendText(box, text);
    else if (sign === "gap") box.append(h("span", { class: "gap" }, `⋯ ${text} ⋯`));
    else box.append(sign === "-" ? changed("del", "taken out", text) : changed("ins", "put in", text));
  }
  if (!box.hasChildNodes()) box.append(h("i", null, "(empty)"));
  return box;
}
