// Answers as Markdown: built of elements like all else, never parsed as markup. Links and images are
// their texts and addresses, so that a page stays inert. One pass over the text; nesting is limited.

const MOST_MARKDOWN = 200_000; // characters; longer texts are shown as they are
const NESTED = 4;
const MARKS = ["**", "__", "~~", "*", "_"];
const MARK_TAGS = { "**": "strong", __: "strong", "~~": "del", "*": "em", _: "em" };

const markdown = (text) => (text.length > MOST_MARKDOWN ? [text] : blocksOf(text.split(/\r?\n/), 0));

function blocksOf(lines, depth) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at].trim();
    const fence = line.startsWith("```") ? "```" : line.startsWith("~~~") ? "~~~" : "";
    const from = at;
    if (!line) {
      at += 1;
    } else if (fence) {
      at += 1;
      while (at < lines.length && !lines[at].trim().startsWith(fence)) at += 1;
      blocks.push(h("pre", null, lines.slice(from + 1, at).join("\n")));
      at += 1;
    } else if (headingLevel(line)) {
      blocks.push(h("p", { class: "heading", role: "heading", "aria-level": Math.min(6, headingLevel(line) + 3) }, inlineOf(line.slice(headingLevel(line) + 1))));
      at += 1;
    } else if (isRule(line)) {
      blocks.push(h("hr"));
      at += 1;
    } else if (line.includes("|") && isDelimiter(lines[at + 1] || "")) {
      at += 2;
      while (at < lines.length && lines[at].includes("|")) at += 1;
      blocks.push(tableOf([lines[from], ...lines.slice(from + 2, at)].map(cellsOf)));
    } else if (line.startsWith(">") && depth < NESTED) {
      while (at < lines.length && lines[at].trimStart().startsWith(">")) at += 1;
      const inside = lines.slice(from, at).map((each) => each.trimStart().slice(1));
      blocks.push(h("blockquote", null, blocksOf(inside, depth + 1)));
    } else if (itemOf(lines[at])) {
      const items = [];
      for (; at < lines.length && lines[at].trim(); at++) {
        const item = itemOf(lines[at]);
        if (item) items.push(item);
        else items.at(-1).text += "\n" + lines[at].trim();
      }
      blocks.push(h("ul", { class: "list-of" }, items.map(({ mark, deep, text }) => h("li", { class: "deep-" + deep }, h("span", { class: "bullet" }, mark), h("span", null, inlineOf(text))))));
    } else {
      at += 1;
      while (at < lines.length && lines[at].trim() && !startsBlock(lines[at])) at += 1;
      blocks.push(h("p", null, inlineOf(lines.slice(from, at).join("\n"))));
    }
  }
  return blocks;
}

function headingLevel(line) {
  let level = 0;
  while (level < 7 && line[level] === "#") level += 1;
  return level && level < 7 && line[level] === " " ? level : 0;
}

const isRule = (line) => line.length >= 3 && "-*_".includes(line[0]) && [...line].every((each) => each === line[0]);

const isDelimiter = (line) => line.includes("-") && [...line.slice(0, 2000)].every((each) => "|:- \t".includes(each)) && line.includes("|");

const startsBlock = (line) => ["```", "~~~", ">"].some((mark) => line.trimStart().startsWith(mark)) || headingLevel(line.trim()) > 0 || itemOf(line) !== null;

// An item of a list: its mark as written, how deep it is, and its text.
function itemOf(line) {
  const text = line.trimStart();
  const deep = Math.min(NESTED, Math.floor((line.length - text.length) / 2));
  if ("-*+".includes(text[0]) && text[1] === " ") return { mark: "•", deep, text: text.slice(2) };
  let digits = 0;
  while (digits < 9 && text[digits] >= "0" && text[digits] <= "9") digits += 1;
  if (!digits || !".)".includes(text[digits]) || text[digits + 1] !== " ") return null;
  return { mark: text.slice(0, digits + 1), deep, text: text.slice(digits + 2) };
}

function cellsOf(line) {
  const cells = line.trim().split("|");
  if (!cells[0].trim()) cells.shift();
  if (cells.length && !cells.at(-1).trim()) cells.pop();
  return cells.map((cell) => cell.trim());
}

function tableOf([head, ...rows]) {
  const row = (tag, cells) => h("tr", null, head.map((_, n) => h(tag, { dir: "auto" }, inlineOf(cells[n] || ""))));
  return h("div", { class: "wide-table" }, h("table", null, h("thead", null, row("th", head)), h("tbody", null, rows.map((cells) => row("td", cells)))));
}

// The next place of a text at or after a position, looked up once for all positions before it.
function finder(text) {
  const found = new Map();
  return (wanted, from) => {
    const known = found.get(wanted);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    const place = text.indexOf(wanted, from);
    found.set(wanted, place);
    return place;
  };
}

function inlineOf(text, depth = 0) {
  const pieces = [];
  const find = finder(text);
  let plainFrom = 0;
  let at = 0;
  const put = (piece, end) => {
    if (at > plainFrom) pieces.push(text.slice(plainFrom, at));
    pieces.push(piece);
    at = plainFrom = end;
  };
  while (at < text.length) {
    const mark = MARKS.find((each) => text.startsWith(each, at));
    const inWord = mark && mark[0] === "_" && /\w/.test(text[at - 1] || "");
    if (text[at] === "\\" && "\\`*_~[]|#".includes(text[at + 1] || " ")) {
      put(text[at + 1], at + 2);
    } else if (text[at] === "`") {
      const end = find("`", at + 1);
      if (end < 0) at += 1;
      else put(h("code", null, text.slice(at + 1, end)), end + 1);
    } else if (mark && !inWord && depth < NESTED && text[at + mark.length]?.trim()) {
      const end = find(mark, at + mark.length);
      if (end <= at + mark.length) at += mark.length;
      else put(h(MARK_TAGS[mark], null, inlineOf(text.slice(at + mark.length, end), depth + 1)), end + mark.length);
    } else if (text[at] === "[") {
      const middle = find("](", at);
      const end = middle < 0 ? -1 : find(")", middle);
      if (end < 0 || end - at > 2000) at += 1;
      else put(h("span", { class: "link" }, text.slice(at + 1, middle), " ", h("code", null, text.slice(middle + 2, end))), end + 1);
    } else {
      at += 1;
    }
  }
  if (plainFrom < text.length) pieces.push(text.slice(plainFrom));
  return pieces;
}

// Whether answers are shown as Markdown; off until a person asks for it.
const reading = { markdown: false };
const AS_MARKDOWN = ["output", "baseline", "history"];

function markdownButton(entry) {
  const title = "Show answers as Markdown; quotes are marked in the plain text only";
  const button = h("button", { type: "button", class: "as-markdown", title, "aria-pressed": String(reading.markdown) }, "Markdown");
  button.addEventListener("click", () => {
    reading.markdown = !reading.markdown;
    openCase(entry, { push: false });
    drawer.querySelector(".as-markdown").focus();
  });
  return button;
}
