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

// A text in pieces, with what was taken out (-) and put in (+) named, not only coloured.
function editedText(pieces, without, label) {
  const box = h("div", { class: "text", dir: "auto", role: "region", "aria-label": label });
  for (const [sign, text] of pieces) {
    if (sign === without || !text) continue;
    if (sign === "=") appendText(box, text);
    else box.append(sign === "-" ? changed("del", "taken out", text) : changed("ins", "put in", text));
  }
  if (!box.hasChildNodes()) box.append(h("i", null, "(empty)"));
  return box;
}
