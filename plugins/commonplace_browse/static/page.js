// What the pages add where scripts run: search while typing, keys, dark and light, tools beside blocks.
"use strict";

const root = document.documentElement;
root.classList.add("live");
try {
  const kept = localStorage.getItem("theme");
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
} catch { /* storage may be off */ }

function toggleTheme() {
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* as above */ }
}
document.querySelector("[data-theme-button]")?.addEventListener("click", toggleTheme);

document.querySelector("header nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

document.querySelector(".heat .now")?.scrollIntoView({ inline: "center", block: "nearest", behavior: "instant" });

// --- search while typing: one request at a time, the newest query wins ---------------------------
const form = document.querySelector("form[data-live]");
const input = form?.querySelector("input");
const results = document.getElementById("results");
const shownProgress = document.querySelector("[data-progress]");
let running = false;
let shown = input?.value.trim() ?? "";
let timer = 0;
let naming = 0;
let awaited = null;

async function showProgress() {
  if (!running || !shownProgress) return;
  try {
    const now = await (await fetch("/progress")).json();
    if (running && now) {
      shownProgress.hidden = false;
      const of = now.total ? ` ${now.completed.toLocaleString()} of ${now.total.toLocaleString()}` : "";
      shownProgress.textContent = `The index is being built: ${now.label}${of}`;
    }
  } catch { /* the search itself reports it */ }
  if (running) setTimeout(showProgress, 500);
}

// During typing the last facets stay, out of reach; those of the query follow at a pause.
function showHits(text) {
  const facets = results.querySelector(".facets");
  results.innerHTML = text;
  const place = results.querySelector(".found:not([data-whole]) .facets");
  if (!facets || !place || place.children.length) return;
  facets.inert = true;
  place.replaceWith(facets);
}

async function showFacets() {
  const query = shown;
  if (!results.querySelector(".found:not([data-whole])") || running || query === awaited) return;
  awaited = query;
  try {
    const answer = await fetch(`/?${new URLSearchParams({ q: query, part: "1" })}`);
    if (!answer.ok || running || query !== shown) return;
    const whole = document.createElement("div");
    whole.innerHTML = await answer.text();
    if (running || query !== shown) return;
    for (const part of [".facets", ".summary"]) {
      const fresh = whole.querySelector(part);
      if (fresh) results.querySelector(part)?.replaceWith(fresh);
    }
    const found = results.querySelector(".found");
    found?.classList.toggle("bare", Boolean(whole.querySelector(".bare")));
    found?.setAttribute("data-whole", "");
  } catch { /* the hits are there; the next search reports what fails */ } finally {
    if (query === awaited) awaited = null;
  }
}

// The address and the title follow when the typing pauses: each change of them goes through the browser.
function pause() {
  clearTimeout(naming);
  history.replaceState(null, "", shown ? `/?${new URLSearchParams({ q: shown })}` : "/");
  document.title = shown ? `${shown} · commonplace` : "commonplace";
  showFacets();
}

function provider() {
  return results.querySelector("[data-provider]")?.dataset.provider;
}

async function search() {
  const query = input.value.trim();
  if (running || query === shown) return;
  running = true;
  shown = query;
  results.setAttribute("aria-busy", "true");
  const slow = setTimeout(showProgress, 700);
  try {
    // A query that a provider embeds is asked once, for everything.
    const part = provider() ? "1" : "hits";
    const answer = await fetch(`/?${new URLSearchParams({ q: query, part })}`);
    const text = await answer.text();
    if (!answer.headers.get("content-type")?.startsWith("text/html")) throw new Error(text);
    showHits(text);
    chosen = -1;
    clearTimeout(naming);
    naming = setTimeout(pause, 250);
    dispatchEvent(new CustomEvent("commonplace:shown", { detail: query }));
  } catch (error) {
    const box = document.createElement("p");
    box.className = "failure";
    box.textContent = `The search was not answered: ${error.message || error}`;
    results.replaceChildren(box);
  } finally {
    clearTimeout(slow);
    running = false;
    if (shownProgress) shownProgress.hidden = true;
    results.setAttribute("aria-busy", "false");
  }
  if (input.value.trim() !== shown) search();
}

// Why a hit stands there is asked for when it is opened.
results?.addEventListener("toggle", async ({ target }) => {
  const cited = target.dataset?.why;
  if (!cited || !target.open) return;
  delete target.dataset.why;
  const box = document.createElement("div");
  try {
    const answer = await fetch(`/?${new URLSearchParams({ q: shown, part: "why", at: cited })}`);
    box.innerHTML = await answer.text();
  } catch (error) {
    target.dataset.why = cited;
    box.className = "failure";
    box.textContent = `The explanation was not answered: ${error.message || error}`;
  }
  target.querySelector(":scope > div")?.remove();
  target.append(box);
}, true);
results?.addEventListener("click", pause, true);

// A query that a provider embeds costs a request: wait for a pause then.
input?.addEventListener("input", () => {
  clearTimeout(timer);
  if (provider()) timer = setTimeout(search, 250); else search();
});
form?.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); search(); });

// --- keys ----------------------------------------------------------------------------------------
let chosen = -1;
let goes = 0;
const keys = document.getElementById("keys");

function choose(step) {
  const items = [...document.querySelectorAll("[data-item]")];
  if (!items.length) return;
  chosen = Math.max(0, Math.min(items.length - 1, chosen + step));
  items.forEach((item, at) => item.classList.toggle("chosen", at === chosen));
  const target = items[chosen].querySelector("[data-open]") ?? items[chosen].querySelector("a");
  target?.focus({ preventScroll: true });
  items[chosen].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest?.("input, textarea, select");
  if (typing) {
    if (event.key === "Escape") typing.blur();
    if (event.target === input && event.key === "ArrowDown") { event.preventDefault(); choose(1); }
    return;
  }
  if (goes) {
    clearTimeout(goes); goes = 0;
    const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const item = document.querySelectorAll("[data-item]")[chosen];
  if (event.key === "/") {
    event.preventDefault();
    if (input) { input.focus(); input.select(); } else location.href = "/";
  } else if (event.key === "j") choose(1);
  else if (event.key === "k") choose(-1);
  else if (event.key === "e") { const why = item?.querySelector("details"); if (why) why.open = !why.open; }
  else if (event.key === "d") toggleTheme();
  else if (event.key === "g") goes = setTimeout(() => { goes = 0; }, 1200);
  else if (event.key === "?") { if (keys.open) keys.close(); else keys.showModal(); }
});

// --- a note: the cited lines, and what can be done with each block -------------------------------
const note = document.querySelector("[data-note]");
if (note) {
  const first = Number(note.dataset.first);
  const last = Number(note.dataset.last);
  let target = null;
  for (const block of note.querySelectorAll("[data-lines]")) {
    const [from, to] = block.dataset.lines.split("-").map(Number);
    if (first && from <= last && to >= first) { block.classList.add("at"); target ??= block; }
    if (note.hasAttribute("data-editable") && ["P", "LI"].includes(block.tagName)) {
      const cited = from === to ? `#L${from}` : `#L${from}-L${to}`;
      const tools = document.createElement("span");
      tools.className = "tools";
      const link = document.createElement("a");
      link.href = `/edit?${new URLSearchParams({ at: note.dataset.note + cited })}`;
      link.textContent = "Change";
      link.setAttribute("aria-label", `Change ${cited.slice(1)}`);
      tools.append(link);
      (block.tagName === "LI" && block.firstElementChild?.matches("p") ? block.firstElementChild : block).append(tools);
    }
  }
  target?.scrollIntoView({ block: "center" });
}
