// Quotes of judges: found in the texts of a case and marked there.

// Marks, dashes and dots as the plain ones: as judges often write them.
function plainMark(character) {
  if ("‘’‚‛′`´".includes(character)) return "'";
  if ("“”„‟″«»".includes(character)) return '"';
  if ("‐‑‒–—―−".includes(character)) return "-";
  return character === "…" ? "..." : character;
}

// White space as one space and marks plain, with the place in the text of every character kept.
function collapse(text) {
  const characters = [];
  const places = [];
  let space = true;
  for (let at = 0; at < text.length; at++) {
    if (/\s/.test(text[at])) {
      if (!space) {
        characters.push(" ");
        places.push(at);
      }
      space = true;
    } else {
      for (const character of plainMark(text[at])) {
        characters.push(character);
        places.push(at);
      }
      space = false;
    }
  }
  return { text: characters.join(""), places };
}

// A quote without the marks and dots around it, in time that grows with its length alone.
function withoutEnds(text) {
  const ends = ["...", '"', "'", " "];
  let start = 0;
  let end = text.length;
  for (let mark; (mark = ends.find((m) => start + m.length <= end && text.startsWith(m, start))); ) start += mark.length;
  for (let mark; (mark = ends.find((m) => end - m.length >= start && text.endsWith(m, end))); ) end -= mark.length;
  return text.slice(start, end);
}

// The position of a quote in a text: literally, or as metrics/quote.py looks it up.
function findQuote(quote, text, collapsed) {
  const at = text.indexOf(quote);
  if (at >= 0) return [at, at + quote.length];
  const wanted = withoutEnds(collapse(quote).text);
  if (!wanted) return null;
  const { text: flat, places } = collapsed();
  const start = flat.indexOf(wanted);
  return start < 0 ? null : [places[start], places[start + wanted.length - 1] + 1];
}

// Every quote of a case, numbered in the order the results show them.
function quotesOf(entry) {
  const quotes = [];
  data.metrics.forEach((metric, m) => {
    const result = entry.cells[m].result;
    for (const part of (result && result.parts) || []) {
      for (const quote of part.quotes || []) {
        const label = `${metric.name} · ${part.id}`;
        quotes.push({ number: quotes.length + 1, quote, label, marked: false });
      }
    }
  });
  return quotes;
}

// A text with the quotes of its field marked; overlapping ones share their words.
function marked(text, quotes, field) {
  const holder = document.createDocumentFragment();
  let flat = null;
  const collapsed = () => flat || (flat = collapse(text));
  const spans = [];
  for (const each of quotes) {
    if (each.quote.field !== field) continue;
    const span = findQuote(each.quote.text, text, collapsed);
    if (span) spans.push({ from: span[0], to: span[1], each });
  }
  if (!spans.length) {
    appendText(holder, text);
    return holder;
  }
  const cuts = [...new Set([0, text.length, ...spans.flatMap((span) => [span.from, span.to])])];
  cuts.sort((a, b) => a - b);
  for (let n = 0; n + 1 < cuts.length; n++) {
    const piece = text.slice(cuts[n], cuts[n + 1]);
    const here = spans.filter((span) => span.from <= cuts[n] && span.to >= cuts[n + 1]);
    if (!here.length) {
      appendText(holder, piece);
      continue;
    }
    const title = here.map(({ each }) => `${each.number}: ${each.label}`).join("\n");
    const mark = h("mark", { title, "data-quotes": here.map(({ each }) => each.number).join(" ") }, piece);
    const ending = here.filter((span) => span.to === cuts[n + 1]);
    for (const { each } of ending) {
      const number = h(
        "button",
        { type: "button", class: "to-quote", "data-to": "quote-" + each.number, "aria-label": `Quote ${each.number}, ${each.label}` },
        String(each.number),
      );
      mark.append(number);
      // Quotes that end on the same word share its mark; the later ones lead to their number in it.
      if (!each.marked) (mark.id ? number : mark).id = "mark-" + each.number;
      each.marked = true;
    }
    holder.append(mark);
  }
  return holder;
}
