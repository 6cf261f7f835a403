// What the pages gain with a script. Everything works without it: forms are
// sent, links are followed, text is selected.
"use strict";

const say = (text) => {
  const status = document.querySelector("[data-status]");
  if (status) status.textContent = text;
};

// ---- Colour scheme: as the system, light, dark ----

function themeSwitch() {
  const button = document.querySelector("[data-theme-switch]");
  if (!button) return;
  const root = document.documentElement;
  const order = ["system", "light", "dark"];
  const label = () => "Colour scheme: " + (root.dataset.theme || "as the system");
  button.setAttribute("aria-label", label());
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(root.dataset.theme || "system") + 1) % order.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === "system") localStorage.removeItem("theme");
      else localStorage.setItem("theme", next);
    } catch {
      // Not remembered; the page still changes.
    }
    button.setAttribute("aria-label", label());
    say(label());
  });
}

// ---- Copy buttons ----

async function copy(button) {
  const face = button.firstElementChild;
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    done = copyOldWay(button.dataset.copy) ? "Copied" : "Failed";
  }
  face.textContent = done;
  say(done === "Copied" ? "Copied" : "The browser did not allow copying");
  setTimeout(() => { face.textContent = "Copy"; }, 1600);
}

// The clipboard interface exists on https and on this machine only.
function copyOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  const ok = document.execCommand("copy");
  area.remove();
  return ok;
}

// ---- Side navigation follows the reading ----

function followReading() {
  const contents = document.querySelector("[data-contents]");
  if (!contents) return;
  const links = [...contents.querySelectorAll("a")];
  const sections = links.map((a) => document.getElementById(a.hash.slice(1)));
  let current = null;
  const mark = () => {
    const line = Math.min(innerHeight * 0.3, 260);
    const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    let at = 0;
    sections.forEach((s, i) => { if (s && s.getBoundingClientRect().top <= line) at = i; });
    if (end) at = sections.length - 1;
    if (links[at] === current) return;
    if (current) current.removeAttribute("aria-current");
    current = links[at];
    current.setAttribute("aria-current", "location");
    const strip = current.closest("ol");
    strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
  };
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  mark();
}

// ---- Diagnosis without leaving the page ----

// Sent as plain text: a form would turn every line feed into two bytes, and the
// answer counts bytes.
async function askServer(address, text, signal) {
  const response = await fetch(address, {
    method: "POST",
    body: text,
    headers: { "Content-Type": "text/plain; charset=utf-8", Accept: "text/html" },
    signal,
  });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const answer = page.querySelector("[data-answer]");
  // A file server answers a POST with a refusal of its own or not at all; only
  // a kb server answers with an answer.
  if (!answer) return null;
  // A failure brings its page's h1; below this page's own it is an h2.
  for (const h1 of answer.querySelectorAll("h1")) {
    const h2 = document.createElement("h2");
    h2.append(...h1.childNodes);
    h1.replaceWith(h2);
  }
  return [...answer.childNodes];
}

// once keeps the result of a promise, but asks again after a failure or when
// told to forget it.
function once(make) {
  let kept = null;
  const get = (...args) => {
    if (!kept) {
      kept = make(...args);
      kept.catch(get.forget);
    }
    return kept;
  };
  get.forget = () => { kept = null; };
  return get;
}

// A kb server says that it takes texts. One of plain files does not, and is not
// sent what somebody pasted.
const serverTakesTexts = once(async (address) =>
  (await fetch(address, { method: "HEAD" })).headers.has("Accept-Post"));

// What a site of plain files may bring along to answer by itself: see
// diagnosis.go of internal/site. Null when it does not.
const ownFiles = once(async (address) => {
  const response = await fetch(new URL("diagnosis.json", address));
  return response.ok ? response.json() : null;
});

// maxText is how much the diagnosis in the browser reads, and patience how many
// milliseconds it may take; then it answers with what it has found.
const maxText = 16 << 20;
const patience = 10_000;

// ownDiagnosis starts the diagnosis in a worker and returns the function that
// asks it.
const ownDiagnosis = once(async (files, progress) => {
  progress(`Loading the diagnosis (${(files.bytes / 1e6).toFixed(1)} MB)…`);
  const worker = new Worker(files.worker);
  const waiting = new Map();
  let last = 0;
  const started = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.id) {
        waiting.get(data.id)(data);
        waiting.delete(data.id);
      } else if (data.ready) resolve();
      else reject(new Error(data.failure));
    };
    worker.onerror = (event) => {
      const failure = event.message || "the worker did not start";
      reject(new Error(failure));
      waiting.forEach((answer) => answer({ failure }));
    };
  });
  worker.postMessage({ open: files });
  const [{ answerNodes }] = await Promise.all([import(files.answer), started]);
  return async (text) => {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > maxText) return tooLarge();
    const { json, about, failure } = await new Promise((resolve) => {
      waiting.set(++last, resolve);
      worker.postMessage({ id: last, text: bytes, limit: patience });
    });
    if (failure) {
      // What has failed once, for want of memory say, is not asked again.
      worker.terminate();
      ownDiagnosis.forget();
      throw new Error(failure);
    }
    return answerNodes(JSON.parse(json), bytes, about, files.search);
  };
});

function tooLarge() {
  const notice = document.createElement("div");
  notice.className = "verdict verdict-failure";
  const headline = document.createElement("h2");
  headline.textContent = "The text is too large";
  const advice = document.createElement("p");
  advice.textContent = "At most 16 MiB are read here. Paste the part around the error, or run the command kb diagnose, which has no limit.";
  notice.append(headline, advice);
  return [notice];
}

// answerTo makes the nodes of an answer, null when nothing here can answer.
async function answerTo(address, text, signal, progress) {
  if (!await serverTakesTexts(address).catch(() => false)) {
    const files = await ownFiles(address).catch(() => null);
    if (files) {
      const ask = await ownDiagnosis(files, progress);
      progress("Diagnosing");
      return ask(text);
    }
  }
  return askServer(address, text, signal);
}

let running = null;

async function diagnose(form, submitter) {
  const place = document.getElementById("answer");
  const text = new FormData(form, submitter).get("text");
  const box = document.querySelector("[data-paste]");
  if (box && submitter && submitter.name === "text") box.value = submitter.value;
  if (running) running.abort();
  const mine = running = new AbortController();
  place.setAttribute("aria-busy", "true");
  say("Diagnosing");
  const progress = (step) => {
    if (mine !== running) return;
    say(step);
    if (place.querySelector("h2")) return; // the last answer stays until the next one
    const line = document.createElement("p");
    line.textContent = step;
    place.replaceChildren(line);
  };
  let answer = null;
  try {
    answer = await answerTo(form.action, text, mine.signal, progress);
  } catch (failure) {
    if (failure.name === "AbortError") return;
    console.warn("no diagnosis:", failure.message);
  }
  if (mine !== running) return;
  running = null;
  if (answer) {
    place.replaceChildren(...answer);
  } else {
    const help = document.getElementById("static-answer");
    place.replaceChildren(help ? help.content.cloneNode(true) : "");
  }
  place.removeAttribute("aria-busy");
  const headline = place.querySelector("h2");
  say(headline ? headline.textContent : "");
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
  if (place.getBoundingClientRect().top > innerHeight * 0.6) place.scrollIntoView({ block: "start" });
}

function pasteBox() {
  for (const form of document.querySelectorAll("form[data-diagnose]")) {
    if (!document.getElementById("answer")) return;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      diagnose(form, event.submitter);
    });
  }
  const box = document.querySelector("[data-paste]");
  if (!box) return;
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      box.form.requestSubmit();
    }
  });
  const frame = box.form;
  box.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    frame.classList.add("over");
  });
  box.addEventListener("dragleave", () => frame.classList.remove("over"));
  box.addEventListener("drop", async (event) => {
    frame.classList.remove("over");
    const file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    box.value = await file.text();
    frame.requestSubmit();
  });
}

// ---- A query that the page does not answer: a copy made of plain files ----

function unansweredQuery() {
  const notice = document.querySelector("[data-static-notice]");
  if (!notice) return;
  // What an empty field and the first order ask for is what every page shows.
  const names = (query) => [...new URLSearchParams(query)]
    .filter(([name, value]) => value.trim() !== "" && !(name === "sort" && value === "title"))
    .map(([name]) => name);
  const applied = new Set(names(document.body.dataset.applied));
  const known = (name) => document.querySelector(`main form [name="${CSS.escape(name)}"]`);
  if (!names(location.search).some((name) => !applied.has(name) && known(name))) return;
  notice.textContent = notice.dataset.staticNotice;
  notice.hidden = false;
}

// ---- Keyboard ----

function keyboard() {
  const keys = document.getElementById("keys");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog[open]")) return;
    const goTo = { "/": "[data-search]", p: "[data-paste]" }[event.key];
    const field = goTo && document.querySelector(goTo);
    if (field) {
      event.preventDefault();
      field.focus();
      if (field.select) field.select();
    } else if (event.key === "?" && keys) {
      event.preventDefault();
      keys.showModal();
    }
  });
}

document.addEventListener("click", (event) => {
  const copier = event.target.closest("[data-copy]");
  if (copier) copy(copier);
  const opener = event.target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open).showModal();
});

themeSwitch();
followReading();
pasteBox();
unansweredQuery();
keyboard();
