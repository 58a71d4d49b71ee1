// The pairs of the list as a file.

// What a spreadsheet would take for a formula, also after white space and in its wide forms.
const FORMULA = /^[\s\p{Cc}\p{Cf}'"]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const plain = String(value);
  const text = `${FORMULA.test(plain) ? "'" : ""}${plain}`.replace(/\u0000/g, "\u2400");
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replace(/"/g, '""')}"` : text;
}

function csvText(lines) {
  // The mark at the start tells spreadsheets that it is UTF-8.
  return `\ufeff${lines.map((line) => line.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

function plainValue(column, row) {
  if (column.kind === "number") return column.values[row];
  if (column.kind === "flags") return marksOf(column, row);
  return valueText(column, row);
}

function foundOf(pair, index) {
  return pair.grids.map((grid) => {
    const scale = index.scales[grid.scale];
    const by = scale.view === null ? {} : { grader: index.views[scale.view].label };
    const places = scale.columns.map((column, place) => ({ of: column.label, ...(grid.cells[place] || {}) }));
    return { ...by, what: scale.title, answers: scale.rows, places };
  });
}

// One record a pair, with its texts; `progress` is told how far it is.
async function records(store, view, rows, progress) {
  const found = [];
  const byChunk = new Map();
  rows.forEach((row, place) => {
    const chunk = Math.floor(row / store.index.size);
    if (!byChunk.has(chunk)) byChunk.set(chunk, []);
    byChunk.get(chunk).push([row, place]);
  });
  let done = 0;
  for (const these of byChunk.values()) {
    for (const [row, place] of these) {
      const pair = await store.pair(row);
      const values = {};
      for (const column of view.columns.values()) values[column.name] = plainValue(column, row);
      found[place] = { id: store.index.ids[row], values, pair };
    }
    done += these.length;
    progress(done, rows.length);
  }
  return found;
}

function csvOf(found, store, view) {
  const columns = [...view.columns.values()];
  const isAudit = store.index.kind === "audit";
  const head = ["pair_id", ...columns.map((column) => column.name)];
  if (isAudit) for (const name of ["a", "b"]) head.push(`side_${name}`, `prompt_${name}`, `answer_${name}`, `state_${name}`);
  else head.push("whole_input", "chosen_output", "rejected_output");
  const lines = found.map(({ id, values, pair }) => {
    const line = [id, ...columns.map((column) => (Array.isArray(values[column.name]) ? values[column.name].join("; ") : values[column.name]))];
    if (isAudit) for (const side of pair.sides) line.push(side.side, side.prompt, side.text, side.state);
    else line.push(pair.shared, ...pair.sides.map((side) => side.text));
    return line;
  });
  return csvText([head, ...lines]);
}

function jsonOf(found, store, about) {
  const pairs = found.map(({ id, values, pair }) => ({
    pair_id: id,
    ...values,
    ...(pair.shared === undefined ? {} : { input: pair.shared }),
    texts: pair.sides.map(({ name, side, prompt, text, state, reason }) => ({ name, side, prompt, text, state, reason })),
    found: foundOf(pair, store.index),
  }));
  return JSON.stringify({ ...about, pairs }, null, 1);
}

function download(name, kind, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
