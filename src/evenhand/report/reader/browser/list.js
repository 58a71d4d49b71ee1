// The list of pairs: a list box of which only what can be seen is in the document.

const BEYOND = 6; // rows above and below what can be seen

class PairList {
  constructor(box, prefix, describe) {
    this.box = box;
    this.prefix = prefix;
    this.describe = describe;
    this.rows = [];
    this.places = new Map();
    this.selected = null;
    this.inside = element("div", { role: "presentation", class: "reader-inside" });
    box.replaceChildren(this.inside);
    let waiting = false;
    box.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; this.draw(); });
    }, { passive: true });
    new ResizeObserver(() => this.measure()).observe(box);
  }

  measure() {
    const probe = element("div", { class: "reader-option" });
    this.inside.append(probe);
    const height = probe.offsetHeight;
    probe.remove();
    if (height) this.height = height;
    this.draw();
  }

  show(rows) {
    this.rows = rows;
    this.places = new Map(rows.map((row, place) => [row, place]));
    this.box.scrollTop = 0;
    this.drawn = null;
    this.draw();
  }

  select(row) {
    this.selected = row;
    this.drawn = null;
    this.reveal();
    this.draw();
  }

  place() {
    return this.places.get(this.selected) ?? -1;
  }

  reveal() {
    const place = this.place();
    if (place < 0 || !this.height) return;
    const top = place * this.height;
    const seen = this.box.clientHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + seen) this.box.scrollTop = top + this.height - seen;
  }

  atOnce() {
    return Math.max(1, Math.floor(this.box.clientHeight / (this.height || 1)) - 1);
  }

  draw() {
    if (!this.height) return;
    this.inside.style.height = `${this.rows.length * this.height}px`;
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + BEYOND);
    const window = `${first} ${last} ${this.height}`;
    if (this.drawn === window) return;
    this.drawn = window;
    const places = [];
    for (let place = first; place < last; place += 1) places.push(place);
    // The selected option stays, so that the list box can always point at it.
    const chosen = this.place();
    if (chosen >= 0 && chosen < first) places.unshift(chosen);
    if (chosen >= last) places.push(chosen);
    this.inside.replaceChildren(...places.map((place) => this.option(place)));
    if (chosen >= 0) this.box.setAttribute("aria-activedescendant", `${this.prefix}-option-${this.selected}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  option(place) {
    const row = this.rows[place];
    const option = element("div", {
      class: "reader-option",
      role: "option",
      id: `${this.prefix}-option-${row}`,
      "aria-selected": String(row === this.selected),
      "aria-setsize": this.rows.length,
      "aria-posinset": place + 1,
    }, ...this.describe(row));
    option.style.transform = `translateY(${place * this.height}px)`;
    option.dataset.row = row;
    return option;
  }
}
