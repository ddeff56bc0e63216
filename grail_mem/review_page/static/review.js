// Keys, progress, small comforts. Every page works without this file.
"use strict";

const cards = () => [...document.querySelectorAll("[data-card]")];
const typing = (node) => node.matches("input, textarea, select") || node.isContentEditable;

function current() {
  const focused = document.activeElement && document.activeElement.closest("[data-card]");
  if (focused) return focused;
  const all = cards();
  return all.length === 1 ? all[0] : null;
}

function move(step) {
  const all = cards();
  if (!all.length) return;
  const now = document.activeElement && document.activeElement.closest("[data-card]");
  const at = now ? all.indexOf(now) + step : step > 0 ? 0 : all.length - 1;
  const next = all[Math.min(Math.max(at, 0), all.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function send(form) {
  const button = form && form.querySelector("button");
  if (button && !button.disabled) form.requestSubmit(button);
}

function act(key) {
  const card = current();
  const found = card && card.querySelector(`[data-key="${key}"]`);
  if (key === "r" && found) {
    found.open = true;
    found.querySelector("input[name=reason]").focus();
    return;
  }
  send(found || (key === "u" ? document.querySelector('[data-key="u-last"]') : null));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const dialog = document.getElementById("keys");
  if (event.key === "Escape" && typing(event.target)) {
    const ask = event.target.closest("details.ask");
    if (ask) ask.open = false;
    const card = event.target.closest("[data-card]");
    event.target.blur();
    if (card) card.focus();
    return;
  }
  if (typing(event.target) || dialog.open) return;
  const does = {
    j: () => move(1), k: () => move(-1), a: () => act("a"), r: () => act("r"), u: () => act("u"),
    "/": () => { const find = document.getElementById("find"); find.focus(); find.select(); },
    "?": () => dialog.showModal(),
  }[event.key];
  if (does) {
    event.preventDefault();
    does();
  } else if (event.key === "Enter" && event.target.matches("[data-card]")) {
    const link = event.target.querySelector("a[href]");
    if (link) link.click();
  }
});

// A form is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Fields that were left empty do not stand in the address.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
  setTimeout(() => { for (const field of event.target.elements) field.disabled = false; });
});

const back = document.querySelector("[data-back]");
if (back) back.addEventListener("click", (event) => {
  if (history.length > 1) { event.preventDefault(); history.back(); }
});

// What was said is told once: loading the page again does not look for it.
const here = new URL(location.href);
if (here.searchParams.has("said")) {
  here.searchParams.delete("said");
  history.replaceState(null, "", here);
}
const section = document.querySelector(".sections [aria-current]");
if (section) section.closest("nav").scrollLeft = section.offsetLeft - 24;

const landed = here.hash && document.getElementById(here.hash.slice(1));
if (landed && landed.matches("[data-card]")) landed.focus();

const work = document.querySelector("[data-work]");
if (work) {
  const tick = async () => {
    try {
      const answer = await fetch("/work", { credentials: "same-origin" });
      const now = await answer.json();
      if (!now.running) { location.reload(); return; }
      if (now.stage) work.querySelector("[data-stage]").textContent = (now.stage[0].toUpperCase() + now.stage.slice(1)).replaceAll("_", " ");
      work.querySelector("[data-count]").textContent = now.done ? now.done + (now.total ? ` of ${now.total}` : "") : "";
      const bar = work.querySelector("[data-bar]");
      if (now.total) { bar.max = now.total; bar.value = now.done; } else bar.removeAttribute("value");
    } catch { /* the page was stopped; asking on tells nothing */ return; }
    setTimeout(tick, 700);
  };
  setTimeout(tick, 400);
}
