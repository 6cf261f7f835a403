// An answer as a server shows it, made in the browser: for a site of plain
// files. What stands here follows diagnosis.go, paste.go and diagnosis.templ of
// internal/render; a test compares the two. Text gets on the page as text only.

// answerNodes makes the elements of an answer. Text is the pasted text as
// bytes; about tells of each record, by its id, its captures as a list of name
// and description and whether it is proven; search is the address of the search.
export function answerNodes(answer, text, about, search) {
  return [
    verdict(answer),
    ...answer.diagnoses.map((d, i) => match(d, i, text, about[d.record.id] || { captures: [], proven: false })),
    ...(answer.unknown && answer.input.bytes > 0 ? unknown(answer.unknown, text, search) : []),
    ...runners(answer.runnersUp),
    el("p.quiet", "Answered in this browser; the text has not left it · data set ", el("code", answer.datasetVersion)),
  ];
}

// el makes an element: "tag.class.class", attributes, children. Children that
// are null or false are left out.
export function el(name, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const child of children.flat()) {
    if (child === null || child === false) continue;
    if (child instanceof Attributes) child.set(element);
    else element.append(child);
  }
  return element;
}

class Attributes {
  constructor(values) { this.values = values; }
  set(element) {
    for (const [name, value] of Object.entries(this.values)) element.setAttribute(name, value);
  }
}
export const attr = (values) => new Attributes(values);

// ---- Words ----

const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (n, one, many) => (n === 1 ? "1 " + one : thousands(n) + " " + many);
const percent = (share) => Math.floor(share * 100 + 0.5) + " %";
const oneOf = (value, list) => (list.includes(value) ? value : "other");

function size(n) {
  if (n < 10_000) return plural(n, "byte", "bytes");
  if (n < 1 << 20) return thousands(n >> 10) + " KiB";
  return (n / (1 << 20)).toFixed(1) + " MiB";
}

function enumerate(words) {
  return words.length < 2 ? words.join("") : words.slice(0, -1).join(", ") + " and " + words.at(-1);
}

function sentence(text) {
  const whole = text.trim().replace(/^[a-z]/, (c) => c.toUpperCase());
  return whole === "" || /[.!?…]$/.test(whole) ? whole : whole + ".";
}

// cutBytes cuts text so that at most max bytes of it stay.
function cutBytes(text, max) {
  const bytes = encoder.encode(text);
  return bytes.length <= max ? text : decoder.decode(bytes.subarray(0, runeStart(bytes, max, 0))) + "…";
}

// cutWords cuts text between words so that at most max characters stay.
function cutWords(text, max) {
  const all = [...text];
  if (all.length <= max) return text;
  let head = all.slice(0, max - 1).join("");
  const gap = Math.max(head.lastIndexOf(" "), head.lastIndexOf("\t"), head.lastIndexOf("\n"));
  if (gap > 0 && all[max - 1] !== " ") head = head.slice(0, gap);
  return head.replace(/[ \t\n,;:–\-(]+$/, "") + "…";
}

// literalWords leaves the words of a template that are not gaps.
function literalWords(template) {
  return template.split(/[ \t\n"'`]+/)
    .filter((word) => !/[{}<>…*$]/.test(word))
    .map((word) => word.replace(/^[.,:;()[\]]+|[.,:;()[\]]+$/g, ""))
    .join(" ").trim().replace(/\s+/g, " ").replace(/…$/, "");
}

// ---- What cannot be seen ----

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// Joiners belong to emoji and scripts, tab and line feed to every text.
const hidden = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const controls = [
  "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
];

function nameOf(character) {
  const code = character.codePointAt(0);
  if (code < controls.length) return controls[code];
  return code === 0x7f ? "DEL" : "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

export const visible = (text) => text.replace(hidden, (c) => "⟨" + nameOf(c) + "⟩");

// visibleNodes is visible with labels that cannot be taken for text.
function visibleNodes(text) {
  const nodes = [];
  let plain = 0;
  for (const found of text.matchAll(hidden)) {
    if (found.index > plain) nodes.push(text.slice(plain, found.index));
    nodes.push(el("span.ctl", nameOf(found[0])));
    plain = found.index + found[0].length;
  }
  return plain < text.length ? [...nodes, text.slice(plain)] : nodes;
}

// ---- Verdict and diagnoses ----

function verdict({ verdict, diagnoses, partial, input }) {
  const n = diagnoses.length;
  const [headline, text] =
    verdict === "known" && n === 1 ? ["Known error", "The text holds one documented error."]
    : verdict === "known" ? ["Known error", `The text holds ${n} documented errors. The first is the cause to look at; the others follow it or stand beside it.`]
    : verdict === "likely" ? ["Probably this error", "The text resembles a documented error, but not in every word. Compare before you act on it."]
    : input.bytes === 0 ? ["Nothing to diagnose", "The text was empty. Paste a message, a stack trace or a whole log."]
    : ["Not a known error", "No documented error stands in this text with enough certainty to name it."];
  return el("div.verdict.verdict-" + oneOf(verdict, ["known", "likely", "unknown"]),
    el("h2", headline),
    el("p", text),
    partial && el("p", el("strong", "Not everything was read."), " The time ran out; this is what was found until then."),
    el("p.quiet", `Read ${size(input.bytes)} in ${plural(input.lines, "line", "lines")}.`));
}

const kindWords = {
  exact: "The message stands in the text word for word.",
  normalized: "The message stands in the text once what logs and terminals add is taken off.",
  truncated: "A part of the message is cut off; what is there fits this error.",
  historic: "The text holds an earlier wording of this message.",
  code: "Only the code or class of this error stands in the text.",
};

const undoneWords = {
  ansi: "terminal colours",
  "carriage-return": "overwritten lines",
  typography: "typographic quotes and dashes",
  entity: "HTML entities",
  escape: "escapes of JSON or a shell",
  quote: "quote marks of mail or Markdown",
  prefix: "prefixes of log lines",
  space: "unusual spaces",
  wrap: "hard line wraps",
};

const excerptsShown = 3;

function match(d, i, text, { captures, proven }) {
  const { record, evidence } = d;
  const numbers = new Map(captures.map(([name], i) => [name, i + 1]));
  const meanings = new Map(captures);
  const first = evidence[0] || { captures: [], undone: [] };
  for (const c of first.captures) if (!numbers.has(c.name)) numbers.set(c.name, numbers.size + 1);

  const undone = first.undone.map((layer) => undoneWords[layer] || visible(layer).replaceAll("-", " "));
  const how = [
    kindWords[d.kind] || "",
    undone.length ? "Taken off before reading: " + enumerate(undone) + "." : "",
    d.count > 1 ? "Found " + thousands(d.count) + " times." : "",
  ];
  const excerpts = evidence.slice(0, excerptsShown).map((e) => excerpt(text, e, numbers));
  const more = excerpts.length ? Math.max(d.count, evidence.length) - excerpts.length : 0;
  const solutions = () => el("ol.solutions", d.solutions.map((s) => el("li", el("div.prose", markdown(s)))));
  return el("article.match",
    attr({ id: "match-" + (i + 1), "aria-label": "Diagnosis " + (i + 1) }),
    badges(record, proven),
    el("h3.match-title", link(record)),
    el("p", how.join(" ") + " ", el("span.quiet", "Confidence " + percent(d.confidence) + ".")),
    excerpts.flat(),
    more > 0 && el("p.quiet", plural(more, "further occurrence is", "further occurrences are") + " not shown."),
    first.captures.length > 0 && values(first.captures, numbers, meanings),
    d.solutions.length > 0 && (i === 0
      ? [el("h4", "Solutions"), solutions()]
      : el("details", el("summary", `Solutions (${d.solutions.length})`), solutions())),
    el("p", el("a.more", attr({ href: record.url }), "Everything about this error", el("span.hidden", ": " + visible(record.title)))));
}

const link = (record, name = "a") => el(name, attr({ href: record.url }), visible(record.title));

function badges(record, proven) {
  const badge = (kind, label, text) =>
    el("li.badge.badge-" + kind, el("span.hidden", label + ": "), visible(text));
  return el("ul.badges",
    badge("severity-" + oneOf(record.severity, ["fatal", "error", "warning", "info"]), "Severity", record.severity),
    badge("role", "Role", record.role),
    badge("repo", "Project", record.repo),
    record.status !== "active" && badge("status", "Status", record.status),
    proven && badge("proven", "Evidence", "Proven"));
}

const capClass = (number) => "cap" + ((number - 1) % 5 + 1);

function values(captures, numbers, meanings) {
  const column = (name) => el("th", attr({ scope: "col" }), name);
  return el("table.values",
    el("caption", "Values in this message"),
    el("thead", el("tr", column("Name"), column("Value"), column("Meaning"))),
    el("tbody", captures.map((c) => el("tr",
      el("th", attr({ scope: "row" }), el("code", visible(c.name))),
      el("td", el("code.cap." + capClass(numbers.get(c.name)), visible(cutBytes(c.value, 400)))),
      el("td", markdown(meanings.get(c.name) || ""))))));
}

// markdown makes the nodes of one piece of running text: code, emphasis and
// links; what else looks like Markdown stays as it is written.
export function markdown(source) {
  const pieces = /(`+)(?!`)(.*?[^`])\1(?!`)|\[([^\][]+)\]\((https:[^\s()]+)\)|\*\*(\S(?:.*?\S)?)\*\*|\*([^\s*](?:[^*]*[^\s*])?)\*|\\([!-/:-@[-`{-~])/gs;
  const nodes = [];
  let plain = 0;
  const text = visible(source).replace(/^[ \t]+/gm, "").trim();
  for (const found of text.matchAll(pieces)) {
    if (found.index > plain) nodes.push(text.slice(plain, found.index));
    plain = found.index + found[0].length;
    const [, , code, label, address, strong, emphasis, escaped] = found;
    if (code !== undefined) nodes.push(el("code", code.replaceAll("\n", " ").replace(/^ (.*\S.*) $/, "$1")));
    else if (label !== undefined) nodes.push(el("a", attr({ rel: "nofollow noopener noreferrer", href: address }), markdown(label)));
    else if (strong !== undefined) nodes.push(el("strong", markdown(strong)));
    else if (emphasis !== undefined) nodes.push(el("em", markdown(emphasis)));
    else nodes.push(escaped);
  }
  return plain < text.length ? [...nodes, text.slice(plain)] : nodes;
}

function runners(list) {
  if (list.length === 0) return [];
  return [el("section.runners", attr({ "aria-label": "Also considered" }),
    el("h3", "Also considered"),
    el("ul", list.map(({ record, confidence, why }) => el("li",
      link(record, "a.row-title"), " ",
      el("span.quiet", "confidence " + percent(confidence) + (why ? ": " + visible(why) : ""))))))];
}

// ---- A text without a known error ----

function unknown({ template, line, near }, text, search) {
  const shown = visible(cutBytes(template, 1000));
  return [
    line && el("section.telling", attr({ "aria-label": "The telling line" }),
      el("h3", "The most telling line"),
      excerpt(text, { start: line.start, end: line.end, line: line.line, captures: [] }, new Map())[0],
      line.why !== "" && el("p.quiet", sentence(visible(line.why)))),
    shown !== "" && el("section.telling", attr({ "aria-label": "The template" }),
      el("h3", "Without its values"),
      el("div.message",
        el("p.message-text", shown),
        el("button.copy.with-script", attr({ type: "button", "data-copy": shown, "aria-label": "Copy the template" }), el("span", "Copy")))),
    near.length > 0 && el("section.near", attr({ "aria-label": "Near records" }),
      el("h3", "Known errors that resemble it"),
      el("ul", near.map((n) => el("li",
        link(n.record, "a.row-title"),
        el("p.quiet", "Similarity " + percent(n.similarity)),
        different("Your text lacks ", "del", n.missing),
        different("Only your text has ", "ins", n.extra))))),
    el("form.big-search", attr({ method: "get", action: search, "aria-label": "Search for the words" }),
      el("label", attr({ for: "near-q" }), "Search for its words. Only what stands in this box is sent, and it becomes part of an address: take secrets out first."),
      el("div.joined",
        el("input", attr({
          id: "near-q", name: "q", type: "search", maxlength: "256",
          value: visible(cutWords(literalWords(template), 120)), autocomplete: "off", spellcheck: "false",
        })),
        el("button.button", attr({ type: "submit" }), "Search"))),
  ].filter(Boolean);
}

function different(label, tag, words) {
  return words.length > 0 && el("p", label, words.slice(0, 12).map((word) => el(tag, visible(cutBytes(word, 60)))));
}

// ---- Excerpts of the pasted text ----

const contextLines = 2; // before and after a match
const excerptLines = 24; // of one excerpt
const lineBytes = 360; // of a line without a match
const besideBytes = 120; // of a long line, on each side of the match
const matchBytes = 800; // of a match on one line
const lineFeed = 10, carriageReturn = 13;

// excerpt shows the lines around an evidence, the message and its values
// marked. Offsets are bytes.
function excerpt(text, evidence, numbers) {
  const start = Math.min(Math.max(evidence.start, 0), text.length);
  const end = Math.min(Math.max(evidence.end, start), text.length);
  const lineStart = (at) => (at > 0 ? text.lastIndexOf(lineFeed, at - 1) + 1 : 0);
  let from = lineStart(start), number = Math.max(evidence.line, 1);
  for (let i = 0; i < contextLines && from > 0 && number > 1; i++) {
    from = lineStart(from - 1);
    number--;
  }
  const lines = [];
  let after = 0;
  while (from <= text.length && lines.length < excerptLines) {
    const feed = text.indexOf(lineFeed, from);
    const to = feed < 0 ? text.length : feed;
    lines.push(pasteLine(text, { from, to, number }, { start, end, captures: evidence.captures }, numbers));
    if (to >= end && ++after > contextLines) break;
    if (to === text.length) break;
    from = to + 1;
    number++;
  }
  if (lines.length > 1 && lines.at(-1).empty) lines.pop();
  return [
    el("pre.paste.numbered", el("code", lines.map((line) => line.element))),
    after === 0 && el("p.quiet", "The message goes on below."),
  ];
}

function pasteLine(text, { from, to, number }, { start, end, captures }, numbers) {
  let left = from, right = to, hitFrom = Math.max(start, from), hitTo = Math.min(end, to);
  if (hitFrom < hitTo || (start === end && start >= from && start <= to)) {
    hitTo = Math.min(hitTo, hitFrom + matchBytes);
    if (to - from > lineBytes) {
      left = Math.max(from, hitFrom - besideBytes);
      right = Math.min(to, Math.max(hitTo, hitFrom) + besideBytes);
    }
  } else {
    hitFrom = hitTo = from;
    right = Math.min(to, from + lineBytes);
  }
  left = runeStart(text, left, from);
  right = runeStart(text, right, from);
  const cutLeft = left > from, cutRight = right < to;
  if (!cutRight && right > left && text[right - 1] === carriageReturn) right--;

  // The line in pieces, cut where the class of the bytes changes.
  const edges = [left, right, hitFrom, hitTo, ...captures.flatMap((c) => [c.start, c.end])].sort((a, b) => a - b);
  const nodes = [];
  let mark = null, empty = true;
  for (let i = 1; i < edges.length; i++) {
    const a = Math.max(edges[i - 1], left), b = Math.min(edges[i], right);
    if (a >= b) continue;
    empty = false;
    const hit = a >= hitFrom && b <= hitTo;
    if (hit && !mark) nodes.push(mark = el("mark"));
    if (!hit) mark = null;
    const capture = hit && captures.findLast((c) => a >= c.start && b <= c.end);
    let piece = visibleNodes(decoder.decode(text.subarray(a, b)));
    if (capture && numbers.get(capture.name)) {
      piece = [el("strong.cap." + capClass(numbers.get(capture.name)), attr({ title: visible(capture.name) }), piece)];
    }
    if (mark) mark.append(...piece);
    else nodes.push(...piece);
  }
  const isHit = nodes.some((node) => node.tagName === "MARK");
  return {
    empty,
    element: el(isHit ? "span.line.hit" : "span.line", attr({ "data-n": number }),
      cutLeft && el("span.cut", "…"), nodes, cutRight && el("span.cut", "…"), "\n"),
  };
}

// runeStart moves back to the beginning of a character.
function runeStart(bytes, at, least) {
  for (let back = 0; back < 4 && at > least && at < bytes.length && (bytes[at] & 0xc0) === 0x80; back++) at--;
  return at;
}
