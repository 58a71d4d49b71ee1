// One pair: its texts side by side, and under them what was found.

function bar(share) {
  const inside = element("span", { class: "reader-fill" });
  inside.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("span", { class: "reader-bar", "aria-hidden": "true" }, inside);
}

function badge(text) {
  return text ? element("span", { class: "reader-badge" }, oneLine(text)) : null;
}

function nameOf(side) {
  return side.side ? `${side.name}, ${side.side}` : side.name;
}

function sideBlock(side, kind, words, id) {
  const heading = element("h5", { id }, ...(kind === "audit" ? ["Answer ", isolated(nameOf(side))] : [`The ${side.name} output`]));
  const parts = [heading];
  const about = side.about.filter(([, text]) => text);
  if (about.length) {
    const list = element("dl", { class: "reader-about" });
    for (const [label, text] of about) list.append(element("div", {}, element("dt", {}, label), element("dd", {}, isolated(text))));
    parts.push(list);
  }
  if (side.prompt) parts.push(element("h6", {}, "Prompt"), textBlock(side.prompt, "reader-prompt", words));
  if (kind === "audit") parts.push(element("h6", {}, "Answer"));
  const reason = side.reason ? [": ", isolated(side.reason)] : [];
  if (side.state || reason.length) parts.push(element("p", { class: "reader-state" }, badge(side.state), ...reason));
  if (side.text) {
    parts.push(textBlock(side.text, "reader-answer", words));
    const letters = side.text.length === 1 ? "1 character" : `${side.text.length.toLocaleString("en")} characters`;
    parts.push(element("p", { class: "reader-length" }, letters));
  } else if (!side.state) {
    parts.push(element("p", { class: "reader-state" }, badge("empty")));
  }
  return element("section", { class: "reader-side", "aria-labelledby": id }, ...parts);
}

function valueCell(value, scale, column) {
  if (typeof value === "string") return element("td", {}, badge(value));
  if (value === null || value === undefined) return element("td", {}, "\u2013");
  if (column?.signed) return element("td", {}, numberText(value, "signed rating"));
  const text = scale.most === 1 ? percent(value) : minus(value.toFixed(1));
  return element("td", {}, element("span", { class: "reader-value" }, text), bar(Math.abs(value) / scale.most));
}

function stateCell(cell, height) {
  const reason = cell.reason ? [" ", isolated(cell.reason, "reader-reason")] : [];
  return element("td", { rowspan: height, class: "reader-unread" }, badge(cell.state), ...reason);
}

function meanOf(cells) {
  if (!cells.length || !cells.every((cell) => cell && cell.p)) return null;
  return cells[0].p.map((_, place) => cells.reduce((sum, cell) => sum + cell.p[place], 0) / cells.length);
}

function gridTable(grid, scale, sides, currentRow) {
  const heads = scale.columns.map((column) => {
    const side = column.side === undefined ? "" : sides[column.side].side;
    return side ? `${column.label}, ${side}` : column.label;
  });
  const cells = [...grid.cells];
  const mean = scale.mean ? meanOf(cells) : null;
  if (scale.mean) {
    heads.push("mean");
    cells.push(mean ? { p: mean } : null);
  }
  const body = element("tbody");
  scale.rows.forEach((label, place) => {
    const isCurrent = place === currentRow;
    const head = element("th", { scope: "row" }, isolated(label), isCurrent ? badge("this question") : null);
    const line = element("tr", { class: isCurrent ? "is-current" : "" }, head);
    for (const [at, cell] of cells.entries()) {
      if (cell && cell.state) {
        if (place === 0) line.append(stateCell(cell, scale.rows.length));
      } else {
        line.append(valueCell(cell ? cell.p[place] : null, scale, scale.columns[at]));
      }
    }
    body.append(line);
  });
  if (!scale.rows.length && cells.some((cell) => cell && cell.state)) {
    body.append(element("tr", {}, element("th", { scope: "row" }, "state"), ...cells.map((cell) => (cell && cell.state ? stateCell(cell, 1) : element("td", {}, "\u2013")))));
  }
  const foot = element("tfoot");
  const footLine = (label, values) => {
    if (values.some((value) => value !== null)) {
      foot.append(element("tr", {}, element("th", { scope: "row" }, label), ...values.map((value) => element("td", {}, value === null ? "\u2013" : percent(value)))));
    }
  };
  if (scale.counts) footLine(scale.counts, cells.map((cell) => cell?.counts ?? null));
  footLine("calibrated: the same", cells.map((cell) => cell?.calibrated ?? null));
  footLine("captured mass", cells.map((cell) => cell?.captured ?? null));
  const first = scale.most === 1 ? "grader\u2019s answer" : "question";
  const head = element("thead", {}, element("tr", {}, element("th", { scope: "col" }, first), ...heads.map((text) => element("th", { scope: "col" }, oneLine(text)))));
  const table = element("table", { class: "reader-grid" }, element("caption", { class: scale.view === null ? "reader-unshown" : "" }, oneLine(scale.title)), head, body);
  if (foot.children.length) table.append(foot);
  return element("div", { class: "reader-scroll" }, table);
}

// What each grader said, the one that was chosen first.
function gridBlocks(pair, index, chosen) {
  const groups = new Map();
  for (const grid of pair.grids) {
    const scale = index.scales[grid.scale];
    const group = scale.view === null ? -1 - grid.scale : scale.view;
    if (!groups.has(group)) groups.set(group, []);
    const view = index.views[chosen];
    const current = scale.view === null && view.scale === grid.scale ? view.row : -1;
    groups.get(group).push(gridTable(grid, scale, pair.sides, current));
  }
  const isFirst = (group) => group === chosen || (group < 0 && index.views[chosen].scale === -1 - group);
  const order = [...groups.keys()].sort((one, other) => Number(isFirst(other)) - Number(isFirst(one)) || Math.abs(one) - Math.abs(other));
  return order.map((group) => {
    const title = group >= 0 ? element("h5", {}, "Graded by ", isolated(index.views[group].label)) : element("h5", {}, isolated(index.scales[-1 - group].title));
    return element("section", { class: "reader-grader" }, title, element("div", { class: "reader-grids" }, ...groups.get(group)));
  });
}

// What the list says of the pair, in full.
function summary(view, index, row, chosen) {
  const list = element("dl", { class: "reader-summary" });
  const by = index.views[chosen];
  const whose = by.group ? [isolated(by.label), " (", isolated(by.group), ")"] : [isolated(by.label)];
  list.append(element("div", {}, element("dt", {}, index.viewLabel), element("dd", {}, ...whose)));
  const said = new Set(index.columns.map((column) => column.name));
  for (const column of view.columns.values()) {
    if (said.has(column.name)) continue;
    const text = column.kind === "flags" ? "" : valueText(column, row);
    if (text) list.append(element("div", {}, element("dt", {}, column.label), element("dd", {}, oneLine(text))));
  }
  const marks = view.columns.get("marks");
  const borne = marks ? marksOf(marks, row) : [];
  if (borne.length) list.append(element("div", {}, element("dt", {}, "Marked"), element("dd", {}, ...borne.flatMap((mark) => [badge(mark), " "]))));
  return list;
}

// Buttons that lead to the parts of a long pair; links would change the address.
function jumps(parts) {
  const buttons = parts.map((part) => {
    const heading = part.querySelector("h5");
    heading.tabIndex = -1;
    const button = element("button", { type: "button" }, oneLine(heading.textContent));
    button.addEventListener("click", () => {
      part.scrollIntoView({ block: "start", behavior: "instant" });
      heading.focus({ preventScroll: true });
    });
    return button;
  });
  return element("p", { class: "reader-jumps" }, element("span", {}, "Go to"), ...buttons);
}

// The content of a pair, under its heading.
function pairParts(pair, index, { row, view, chosen, words, prefix }) {
  const parts = [summary(view, index, row, chosen)];
  const facts = pair.facts.filter(([, text]) => text);
  if (facts.length) {
    const list = element("dl", { class: "reader-facts" });
    for (const [label, text] of facts) list.append(element("div", {}, element("dt", {}, label), element("dd", {}, isolated(text))));
    parts.push(list);
  }
  if (pair.shared) parts.push(element("h5", {}, "Input"), textBlock(pair.shared, "reader-prompt", words));
  const sides = pair.sides.map((side, place) => sideBlock(side, index.kind, words, `${prefix}-side-${place}`));
  const grids = gridBlocks(pair, index, chosen);
  parts.push(jumps([...sides, ...grids]));
  parts.push(element("div", { class: "reader-sides" }, ...sides), ...grids);
  return parts;
}
