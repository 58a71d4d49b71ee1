// A reader: what ties the list, the pair, the search and the address together.

const apps = [];

class ReaderApp {
  constructor(root) {
    this.root = root;
    this.anchor = root.id;
    this.prefix = `reader-${root.dataset.number}`;
    this.part = (name) => root.querySelector(`.reader-${name}`);
    this.store = new Store(this.prefix);
    this.choice = { levels: new Map(), marks: new Set() };
    this.words = [];
    this.textHits = new Set();
    this.viewPlace = 0;
    this.ticket = 0;
  }

  async start() {
    const began = performance.now();
    await this.store.open();
    this.view = await this.store.view(0);
    this.list = new PairList(this.part("list"), this.prefix, (row) => this.describe(row));
    this.drawControls();
    this.listen();
    this.part("app").hidden = false;
    // Where there is little room the filters are there when they are asked for.
    this.part("more").open = this.isWide();
    if (this.store.index.note) {
      this.part("note").textContent = this.store.index.note;
      this.part("note").hidden = false;
    }
    this.list.measure();
    this.refresh();
    const linked = this.linkedRow();
    if (linked !== null) await this.open(linked, { how: "link" });
    else if (this.isWide() && this.list.rows.length) await this.open(this.list.rows[0], { how: "start" });
    this.root.dataset.ready = "yes";
    performance.measure("reader-start", { start: began });
  }

  isWide() {
    return getComputedStyle(this.part("panes")).getPropertyValue("--reader-wide").trim() === "1";
  }

  noun(count) {
    return this.store.index.noun[count === 1 ? 0 : 1];
  }

  // Controls

  drawControls() {
    const index = this.store.index;
    const viewBox = this.part("view");
    const views = index.views.map((view, place) => ({ value: place, text: oneLine(view.label), group: oneLine(view.group) }));
    viewBox.replaceChildren(choose(index.viewLabel, views, (value) => this.changeView(Number(value)), views.length < 2));
    this.drawSorts();
    drawFilters(this.part("filters"), this.view, this.choice, () => this.refresh({ say: true }));
  }

  drawSorts() {
    const sorts = this.store.index.sorts.filter((sort) => !sort.column || this.view.columns.has(sort.column));
    const options = sorts.map((sort) => ({ value: sort.label, text: sort.label }));
    const kept = sorts.find((sort) => sort.label === this.sort?.label);
    this.sort = kept || sorts[0];
    const labelled = choose("Order", options, (label) => {
      this.sort = sorts.find((sort) => sort.label === label);
      this.refresh({ say: true });
    });
    labelled.querySelector("select").value = this.sort.label;
    this.part("sort").replaceChildren(labelled);
  }

  async changeView(place) {
    const view = await this.store.view(place);
    this.viewPlace = place;
    this.view = view;
    this.drawSorts();
    drawFilters(this.part("filters"), view, this.choice, () => this.refresh({ say: true }));
    this.refresh({ say: true });
    if (this.row !== undefined) this.draw();
  }

  clear() {
    this.choice.levels.clear();
    this.choice.marks.clear();
    this.part("search").value = "";
    drawFilters(this.part("filters"), this.view, this.choice, () => this.refresh({ say: true }));
    this.search("");
  }

  // The list

  refresh({ say = false, keep = false } = {}) {
    const began = performance.now();
    const passes = letsThrough(this.view, this.choice);
    const fields = this.words.length ? this.store.fields() : null;
    const isFound = (row) => this.textHits.has(row) || this.words.every((word) => fields[row].includes(word));
    const rows = permutation(this.store, this.view, this.sort).filter((row) => passes(row) && (!fields || isFound(row)));
    const top = this.part("list").scrollTop;
    this.list.show(rows);
    if (keep) {
      this.part("list").scrollTop = top;
      this.list.draw();
    }
    this.tellCount(say);
    this.tellPlace();
    performance.measure("reader-filter", { start: began });
  }

  tellCount(say) {
    const shown = this.list.rows.length;
    const all = this.store.count;
    const count = shown === all ? all.toLocaleString("en") : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
    const working = this.progress ? ` so far; searching the texts, ${this.progress}` : "";
    const text = `${count} ${this.noun(shown === all ? all : 2)}${working}`;
    this.part("count").textContent = text;
    this.part("none").hidden = shown > 0 || Boolean(this.progress);
    for (const name of ["csv", "json"]) this.part(name).disabled = shown === 0;
    this.part("clear").disabled = !this.words.length && !this.choice.levels.size && !this.choice.marks.size;
    if (say && !this.progress) this.say(text);
  }

  say(text) {
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { this.part("said").textContent = text; }, 300);
  }

  describe(row) {
    const { index } = this.store;
    const { view } = this;
    const value = (name) => oneLine(valueText(view.columns.get(name), row));
    const verdict = value(view.badge);
    const figure = view.columns.get(view.figure);
    const amount = figure ? numberText(figure.values[row], figure.format) : "";
    const tags = view.tags.map((name) => value(name)).filter((text) => text && text !== verdict);
    const shownAmount = amount ? element("span", { class: "reader-figure", title: figure.label }, `${view.figureName} ${amount}`.trim()) : null;
    if (!index.subtitle) {
      return [
        isolated(valueText(view.columns.get(index.title), row), "reader-title reader-two-lines"),
        element("span", { class: "reader-line" }, badge(verdict), element("span", { class: "reader-tags" }, tags.join(" \u00b7 ")), shownAmount),
      ];
    }
    return [
      element("span", { class: "reader-line" }, isolated(valueText(view.columns.get(index.title), row), "reader-title"), badge(verdict)),
      element("span", { class: "reader-line" }, isolated(valueText(view.columns.get(index.subtitle), row), "reader-subtitle"), shownAmount),
      element("span", { class: "reader-tags" }, tags.join(" \u00b7 ")),
    ];
  }

  async search(query) {
    const words = wordsOf(query);
    this.ticket += 1;
    const ticket = this.ticket;
    const isOld = () => ticket !== this.ticket;
    this.words = words;
    this.textHits = new Set();
    this.progress = "";
    if (words.length) {
      this.progress = `0 of ${this.store.chunkCount} parts`;
      this.refresh();
      let drawn = performance.now();
      const isDone = await searchTexts(this.store, words, isOld, (rows, done) => {
        for (const row of rows) this.textHits.add(row);
        this.progress = `${done} of ${this.store.chunkCount} parts`;
        if (performance.now() - drawn > 250) {
          this.refresh({ keep: true });
          drawn = performance.now();
        }
      });
      if (!isDone) return;
    }
    this.progress = "";
    this.refresh({ say: true, keep: true });
    if (this.row !== undefined) this.draw();
  }

  // The pair

  // How: "start" (nobody asked), "link" (the address names it), "click", "key".
  async open(row, { how }) {
    this.row = row;
    this.list.select(row);
    const drawn = await this.draw();
    if (!drawn) return;
    if (how === "start") return;
    this.root.classList.add("is-reading");
    const pair = this.part("pair");
    if (how === "link" || !this.isWide()) {
      pair.focus({ preventScroll: true });
      pair.scrollIntoView({ block: "start", behavior: "instant" });
    } else if (this.part("panes").getBoundingClientRect().top < 0) {
      this.part("panes").scrollIntoView({ block: "start", behavior: "instant" });
    }
    if (how === "click") this.address("pushState");
    if (how === "key") {
      // A key that is held down would make more entries of the history than browsers allow.
      const isFirst = this.linkedRow() === null;
      clearTimeout(this.addressing);
      this.addressing = setTimeout(() => this.address(isFirst ? "pushState" : "replaceState"), 150);
    }
  }

  async draw() {
    const { row } = this;
    const pair = await this.store.pair(row);
    if (row !== this.row) return false;
    const { index } = this.store;
    const title = valueText(this.view.columns.get(index.title), row);
    this.part("pair-title").replaceChildren(isolated(title));
    this.part("pair-link").setAttribute("href", `#${this.hash(row)}`);
    this.part("pair-link").textContent = oneLine(index.ids[row]);
    this.part("pair-body").replaceChildren(...pairParts(pair, index, { row, view: this.view, chosen: this.viewPlace, words: this.words, prefix: this.prefix }));
    this.part("pair").hidden = false;
    this.part("copied").textContent = "";
    this.tellPlace();
    return true;
  }

  tellPlace() {
    if (this.row === undefined) return;
    const place = this.list.place();
    const all = this.list.rows.length.toLocaleString("en");
    this.part("place").textContent = place < 0 ? "not in the list as it is filtered" : `${(place + 1).toLocaleString("en")} of ${all} in the list`;
    this.part("previous").disabled = place === 0 || !this.list.rows.length;
    this.part("next").disabled = place === this.list.rows.length - 1 || !this.list.rows.length;
  }

  // To another pair of the list, so many places further.
  move(steps, how = "key") {
    const { rows } = this.list;
    if (!rows.length) return;
    const place = this.list.place();
    const wanted = place < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, place + steps));
    if (rows[wanted] !== this.row || !this.root.classList.contains("is-reading")) this.open(rows[wanted], { how });
  }

  back() {
    this.root.classList.remove("is-reading");
    this.part("list").focus({ preventScroll: this.isWide() });
    if (this.linkedRow() !== null) history.pushState(null, "", `#${this.anchor}`);
    this.list.reveal();
    this.list.draw();
  }

  // Addresses

  hash(row) {
    return `${this.anchor}/${encodeURIComponent(this.store.index.ids[row].toWellFormed?.() ?? this.store.index.ids[row])}`;
  }

  linkedRow() {
    const wanted = location.hash.slice(1);
    if (!wanted.startsWith(`${this.anchor}/`)) return null;
    try {
      return this.store.rows.get(decodeURIComponent(wanted.slice(this.anchor.length + 1))) ?? null;
    } catch {
      return null;
    }
  }

  address(method) {
    const wanted = `#${this.hash(this.row)}`;
    if (location.hash !== wanted) history[method](null, "", wanted);
  }

  followAddress() {
    const row = this.linkedRow();
    if (row !== null) {
      if (row !== this.row || !this.root.classList.contains("is-reading")) this.open(row, { how: "link" });
    } else if (!this.isWide()) {
      this.root.classList.remove("is-reading");
    }
  }
}
