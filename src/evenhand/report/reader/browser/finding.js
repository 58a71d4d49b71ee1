// Which pairs are in the list, and in which order.

function wordsOf(query) {
  const words = [];
  for (const found of query.matchAll(/"([^"]+)"?|(\S+)/gu)) {
    const word = (found[1] ?? found[2]).toLowerCase().trim();
    if (word) words.push(word);
  }
  return words;
}

// All rows in the order of a column; rows without a value stand last, whichever way it is sorted.
function permutation(store, view, sort) {
  const key = `${sort.column} ${sort.descending}`;
  if (!view.permutations.has(key)) {
    const rows = Array.from({ length: store.count }, (_, row) => row);
    const column = view.columns.get(sort.column);
    if (column) {
      const rank = ranks(column);
      const way = sort.descending ? -1 : 1;
      rows.sort((one, other) => {
        const a = rank[one];
        const b = rank[other];
        if (a === null || b === null) return a === b ? one - other : a === null ? 1 : -1;
        return way * (a - b) || one - other;
      });
    }
    view.permutations.set(key, rows);
  }
  return view.permutations.get(key);
}

function ranks(column) {
  if (column.kind === "number") return column.values;
  if (column.kind === "flags") return column.codes;
  if (column.kind === "text") return column.values.map((_, row) => row);
  const names = [...column.levels].sort(new Intl.Collator("en").compare);
  const place = column.levels.map((level) => names.indexOf(level));
  return column.codes.map((code) => (code < 0 ? null : place[code]));
}

// What a choice of filters lets through: a function of the row.
function letsThrough(view, choice) {
  const tests = [];
  for (const [name, level] of choice.levels) {
    const column = view.columns.get(name);
    const code = column ? column.levels.indexOf(level) : -1;
    if (column) tests.push((row) => column.codes[row] === code);
  }
  const marks = view.columns.get("marks");
  for (const mark of choice.marks) {
    const bit = marks ? 1 << marks.levels.indexOf(mark) : 0;
    if (marks && marks.levels.includes(mark)) tests.push((row) => (marks.codes[row] & bit) !== 0);
  }
  return (row) => tests.every((test) => test(row));
}

// Searches all texts, a chunk at a time, so that the page stays alive. Calls `found` with the rows of each chunk that
// hold all the words; `isOld` ends it.
async function searchTexts(store, words, isOld, found) {
  const fields = store.fields();
  for (let chunk = 0; chunk < store.chunkCount; chunk += 1) {
    if (isOld()) return false;
    const texts = await store.texts(chunk);
    if (isOld()) return false;
    const hits = [];
    const start = chunk * store.index.size;
    texts.forEach((text, place) => {
      const row = start + place;
      if (words.every((word) => text.includes(word) || fields[row].includes(word))) hits.push(row);
    });
    found(hits, chunk + 1);
    if (chunk % 4 === 3) await new Promise((resume) => setTimeout(resume));
  }
  return true;
}
