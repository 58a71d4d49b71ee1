// What the reader does when it is clicked, typed at and pointed to.

const SHORTCUTS = "evenhand-reader-keys";

const keysAreOn = {
  get value() { try { return localStorage.getItem(SHORTCUTS) !== "off"; } catch { return this.kept ?? true; } },
  set value(on) { this.kept = on; try { localStorage.setItem(SHORTCUTS, on ? "on" : "off"); } catch { /* for this visit */ } },
};

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

ReaderApp.prototype.listen = function listen() {
  const on = (name, event, action) => this.part(name).addEventListener(event, action);
  const search = this.part("search");
  let typing;
  on("search", "input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => this.search(search.value), 120);
  });
  on("search", "keydown", (event) => {
    if (event.key === "Escape" && !search.value) this.part("list").focus();
    if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.part("list").focus();
    }
  });
  on("clear", "click", () => { this.clear(); search.focus(); });
  on("list", "click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) this.open(Number(option.dataset.row), { how: "click" });
  });
  on("list", "keydown", (event) => this.listKey(event));
  on("previous", "click", () => this.move(-1, "click"));
  on("next", "click", () => this.move(1, "click"));
  on("back", "click", () => this.back());
  on("copy", "click", () => this.copyLink());
  on("csv", "click", () => this.export("csv"));
  on("json", "click", () => this.export("json"));
  on("keys", "click", () => this.help());
  const full = this.part("full");
  full.hidden = !document.fullscreenEnabled;
  on("full", "click", () => (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen()));
  document.addEventListener("fullscreenchange", () => {
    full.setAttribute("aria-pressed", String(document.fullscreenElement === this.root));
  });
  const shortcuts = this.part("shortcuts");
  shortcuts.checked = keysAreOn.value;
  shortcuts.addEventListener("change", () => { keysAreOn.value = shortcuts.checked; });
  on("close", "click", () => this.part("help").close());
};

ReaderApp.prototype.listKey = function listKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: this.list.atOnce(),
    PageUp: -this.list.atOnce(),
    Home: -this.list.rows.length,
    End: this.list.rows.length,
  }[event.key];
  if (steps !== undefined) {
    event.preventDefault();
    // On a narrow screen the pair takes the place of the list, so that arrows only choose.
    if (this.isWide()) this.move(steps);
    else this.choosePlace(steps);
  } else if (event.key === "Enter" && this.list.place() >= 0) {
    event.preventDefault();
    this.open(this.list.selected, { how: "click" }).then(() => this.part("pair").focus());
  }
};

ReaderApp.prototype.choosePlace = function choosePlace(steps) {
  const { rows } = this.list;
  if (!rows.length) return;
  const place = this.list.place();
  this.list.select(rows[place < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, place + steps))]);
};

ReaderApp.prototype.copyLink = async function copyLink() {
  const link = location.href.split("#")[0] + this.part("pair-link").getAttribute("href");
  const isDone = await copied(link);
  const text = isDone ? "The link is copied." : "The browser did not allow to copy; copy the address of the pair\u2019s link.";
  this.part("copied").textContent = text;
};

ReaderApp.prototype.export = async function exportPairs(kind) {
  const { store, view } = this;
  const rows = [...this.list.rows];
  const button = this.part(kind);
  const label = button.textContent;
  button.disabled = true;
  const found = await records(store, view, rows, (done, all) => {
    button.textContent = `${label}: ${Math.round((100 * done) / all)}%`;
  });
  const about = {
    list: this.part("heading").textContent,
    [store.index.viewLabel.toLowerCase()]: [store.index.views[this.viewPlace].group, store.index.views[this.viewPlace].label].filter(Boolean).join(": "),
    search: this.part("search").value,
    filters: Object.fromEntries(this.choice.levels),
    marks: [...this.choice.marks],
    order: this.sort.label,
  };
  if (kind === "csv") download(`${this.anchor}.csv`, "text/csv", csvOf(found, store, view));
  else download(`${this.anchor}.json`, "application/json", jsonOf(found, store, about));
  button.textContent = label;
  button.disabled = false;
  this.say(`${found.length.toLocaleString("en")} ${this.noun(found.length)} written.`);
};

ReaderApp.prototype.help = function help() {
  const dialog = this.part("help");
  if (!dialog.open) dialog.showModal();
};

// The reader that a key is meant for: the one with the focus, or the one that fills most of the window.
function currentApp() {
  const within = apps.find((app) => app.root.contains(document.activeElement));
  if (within) return within;
  let best = null;
  let most = 0;
  for (const app of apps) {
    const box = app.root.getBoundingClientRect();
    const seen = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    if (seen > most) {
      most = seen;
      best = app;
    }
  }
  return best;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const isTyping = event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
  const app = currentApp() || (event.key === "/" ? apps[0] : null);
  if (!app || app.root.dataset.ready !== "yes" || app.part("help").open) return;
  if (event.key === "Escape") {
    if (app.part("pair").contains(document.activeElement)) app.back();
    return;
  }
  if (isTyping || !keysAreOn.value) return;
  const action = {
    "/": () => { app.part("search").focus(); app.part("search").select(); },
    j: () => app.move(1),
    k: () => app.move(-1),
    c: () => app.copyLink(),
    "?": () => app.help(),
  }[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

addEventListener("hashchange", () => { for (const app of apps) if (app.root.dataset.ready === "yes") app.followAddress(); });

async function startAll() {
  for (const root of document.querySelectorAll("section.reader")) {
    const app = new ReaderApp(root);
    const message = (text) => {
      app.part("message").textContent = text;
      app.part("message").hidden = false;
    };
    if (typeof DecompressionStream === "undefined") {
      message("This browser can\u2019t open the texts: it lacks DecompressionStream. Chrome and Edge from 80, Firefox from 113 and Safari from 16.4 have it. The rest of the report needs nothing of it.");
      continue;
    }
    try {
      await app.start();
      apps.push(app);
    } catch (error) {
      message("The pairs could not be opened: the file seems to be damaged. Make the report again.");
      console.error(error);
    }
  }
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", startAll);
else startAll();
