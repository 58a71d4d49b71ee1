"use strict";
(() => {
  const root = document.documentElement;
  const stored = {
    get() { try { return localStorage.getItem("evenhand-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("evenhand-theme", value); } catch { /* the choice holds for this visit */ } },
  };
  const darkPreferred = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (darkPreferred.matches ? "dark" : "light")) === "dark";

  // At once, before anything is drawn, so that nothing flashes.
  const chosen = stored.get();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  const say = (text) => { document.getElementById("said").textContent = text; };

  function themeSwitch() {
    const button = document.getElementById("theme");
    const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      stored.set(root.dataset.theme);
      label();
    });
    darkPreferred.addEventListener("change", label);
    label();
    button.hidden = false;
  }

  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.setAttribute("aria-hidden", "true");
      area.className = "unseen";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  function copyButtons() {
    for (const button of document.querySelectorAll("button.copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const code = button.parentElement.querySelector("code");
        const done = await copied(code.textContent);
        button.focus();
        button.textContent = done ? "Copied" : "Not copied";
        say(done ? "The command is copied." : "The browser did not allow to copy.");
        if (!done) getSelection().selectAllChildren(code);
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
    }
  }

  function contents() {
    const folder = document.querySelector("nav.contents details");
    const wide = matchMedia("(min-width: 64rem)");
    const fold = () => { folder.open = wide.matches; };
    wide.addEventListener("change", fold);
    fold();
    const links = new Map();
    for (const link of folder.querySelectorAll("a")) {
      links.set(link.getAttribute("href").slice(1), link);
      link.addEventListener("click", () => { if (!wide.matches) folder.open = false; });
    }
    const watched = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
    let pending = false;
    const mark = () => {
      pending = false;
      const line = innerHeight / 4;
      let current = null;
      for (const section of watched) if (section.getBoundingClientRect().top <= line) current = section.id;
      for (const [id, link] of links) {
        if (id === current && !link.hasAttribute("aria-current")) {
          link.setAttribute("aria-current", "true");
          if (wide.matches) {
            const box = folder.parentElement;
            const place = link.offsetTop - box.clientHeight / 2;
            box.scrollTop = Math.max(0, place);
          }
        } else if (id !== current) {
          link.removeAttribute("aria-current");
        }
      }
    };
    addEventListener("scroll", () => { if (!pending) { pending = true; requestAnimationFrame(mark); } }, { passive: true });
    mark();
  }

  // Pairs are unpacked after the page is there, and what stands below them moves: a link stays with its target.
  function staying() {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { /* no name of ours */ }
    if (!target || !target.matches("section, figure")) return;
    const observer = new ResizeObserver(() => target.scrollIntoView());
    const leave = () => observer.disconnect();
    observer.observe(document.querySelector("main"));
    for (const kind of ["wheel", "keydown", "pointerdown", "hashchange"]) addEventListener(kind, leave, { once: true });
    setTimeout(leave, 10_000);
  }

  // What is wider than its box can be reached and moved with the keyboard.
  function scrollers() {
    const look = (boxes) => {
      for (const box of boxes) {
        if (box.scrollWidth > box.clientWidth + 1) {
          box.tabIndex = 0;
          box.classList.add("wide");
        } else {
          box.removeAttribute("tabindex");
          box.classList.remove("wide");
        }
      }
    };
    const observer = new ResizeObserver((entries) => look(entries.map((entry) => entry.target)));
    for (const box of document.querySelectorAll(".scroll")) observer.observe(box);
  }

  function printing() {
    let closed = null;
    const open = () => {
      if (closed) return;
      closed = [...document.querySelectorAll("main details:not([open])")];
      for (const one of closed) one.open = true;
    };
    const close = () => {
      for (const one of closed || []) one.open = false;
      closed = null;
    };
    addEventListener("beforeprint", open);
    addEventListener("afterprint", close);
    const print = matchMedia("print");
    print.addEventListener("change", () => (print.matches ? open() : close()));
    if (print.matches) open();
  }

  addEventListener("DOMContentLoaded", () => {
    themeSwitch();
    copyButtons();
    contents();
    scrollers();
    printing();
    staying();
  });
})();
