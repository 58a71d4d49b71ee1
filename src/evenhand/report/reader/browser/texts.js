// Texts of others, shown as what they are: never markup, and nothing in them hidden.

// Control and format characters, halves of surrogate pairs, line separators. Not those that belong to writing: tab,
// line end, the joiners of emoji and of Persian and Indian scripts, Arabic number signs.
const UNSEEN = /(?![\t\n\u200c\u200d\u0600-\u0605\u06dd\u070f])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
const SHOWN_AT_FIRST = 100000;
const MOST_HITS = 2000;

// Names, and not the signs of Unicode for them: few fonts have those.
const CONTROLS = ("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
  + "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US").split(" ");

function symbolOf(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return `[${CONTROLS[code]}]`;
  if (code === 0x7f) return "[DEL]";
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// One line of text without characters that could disturb what stands around it.
function oneLine(text) {
  return String(text ?? "").replace(/[ \t\r\n]+/g, " ").replace(UNSEEN, symbolOf);
}

function isolated(text, className = "") {
  return element("bdi", { class: className }, oneLine(text));
}

function appendSeen(parent, text) {
  let last = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > last) parent.append(text.slice(last, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parent.append(element("span", { class: "reader-unseen", title: `the character U+${code}` }, symbolOf(found[0])));
    last = found.index + found[0].length;
  }
  if (last < text.length) parent.append(text.slice(last));
}

function wordsPattern(words) {
  if (!words.length) return null;
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  try {
    return new RegExp(escaped.join("|"), "giu");
  } catch {
    return null; // half of a surrogate pair, say
  }
}

function appendMarked(parent, text, pattern) {
  if (!pattern) {
    appendSeen(parent, text);
    return;
  }
  let last = 0;
  let hits = 0;
  for (const found of text.matchAll(pattern)) {
    if (!found[0]) continue;
    appendSeen(parent, text.slice(last, found.index));
    const mark = element("mark");
    appendSeen(mark, found[0]);
    parent.append(mark);
    last = found.index + found[0].length;
    hits += 1;
    if (hits >= MOST_HITS) break;
  }
  appendSeen(parent, text.slice(last));
}

// A text of any length, with the words that were searched for marked. Of a very long one the start, and a button.
function textBlock(text, className, words) {
  const body = element("div", { class: `reader-text ${className}`, dir: "auto" });
  const plain = text.replace(/\r\n/g, "\n");
  const pattern = wordsPattern(words);
  if (plain.length <= SHOWN_AT_FIRST) {
    appendMarked(body, plain, pattern);
    return body;
  }
  appendMarked(body, plain.slice(0, SHOWN_AT_FIRST), pattern);
  const label = `Show all ${plain.length.toLocaleString("en")} characters (${SHOWN_AT_FIRST.toLocaleString("en")} are shown)`;
  const more = element("button", { type: "button" }, label);
  const wrapped = element("div", {}, body, element("p", {}, more));
  more.addEventListener("click", () => {
    body.replaceChildren();
    appendMarked(body, plain, pattern);
    more.parentElement.remove();
  });
  return wrapped;
}
