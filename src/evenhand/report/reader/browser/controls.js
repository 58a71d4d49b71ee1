// Search, filters and the order of the list.

let choices = 0;

function choose(label, options, onChange, isHidden = false) {
  choices += 1;
  const id = `reader-choice-${choices}`;
  const select = element("select", { id });
  for (const { value, text, group } of options) {
    let parent = select;
    if (group) {
      parent = [...select.querySelectorAll("optgroup")].find((one) => one.label === group) || element("optgroup", { label: group });
      select.append(parent);
    }
    parent.append(element("option", { value }, text));
  }
  select.addEventListener("change", () => onChange(select.value));
  const labelled = element("div", { class: "reader-choice" }, element("label", { for: id }, label), select);
  labelled.hidden = isHidden;
  return labelled;
}

function counted(column) {
  const counts = new Array(column.levels.length).fill(0);
  for (const code of column.codes) {
    if (column.kind === "flags") column.levels.forEach((_, place) => { if (code & (1 << place)) counts[place] += 1; });
    else if (code >= 0) counts[code] += 1;
  }
  return counts;
}

// Fills the box of filters for a view; what was chosen stays chosen where the view has it.
function drawFilters(box, view, choice, onChange) {
  const drawn = [];
  for (const column of view.columns.values()) {
    if (column.kind !== "category") continue;
    const counts = counted(column);
    const there = column.levels.filter((_, place) => counts[place]);
    if (there.length < 2) {
      choice.levels.delete(column.name);
      continue;
    }
    const options = [{ value: "", text: "any" }];
    column.levels.forEach((level, place) => {
      if (counts[place]) options.push({ value: level, text: `${oneLine(level)} (${counts[place].toLocaleString("en")})` });
    });
    const labelled = choose(column.label, options, (level) => {
      if (level) choice.levels.set(column.name, level);
      else choice.levels.delete(column.name);
      onChange();
    });
    labelled.dataset.column = column.name;
    const wanted = choice.levels.get(column.name);
    if (there.includes(wanted)) labelled.querySelector("select").value = wanted;
    else choice.levels.delete(column.name);
    drawn.push(labelled);
  }
  const marks = view.columns.get("marks");
  for (const mark of [...choice.marks]) if (!marks?.levels.includes(mark)) choice.marks.delete(mark);
  if (marks?.levels.length) {
    const counts = counted(marks);
    const boxes = marks.levels.map((mark, place) => {
      const input = element("input", { type: "checkbox", value: mark });
      input.checked = choice.marks.has(mark);
      input.addEventListener("change", () => {
        if (input.checked) choice.marks.add(mark);
        else choice.marks.delete(mark);
        onChange();
      });
      return element("label", {}, input, ` ${mark} (${counts[place].toLocaleString("en")})`);
    });
    drawn.push(element("fieldset", { class: "reader-marks" }, element("legend", {}, "Only pairs marked"), ...boxes));
  }
  box.replaceChildren(...drawn);
}
