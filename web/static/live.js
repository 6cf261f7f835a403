// The button that proves a record on the machine of the server: the transcript
// comes on the page while the scenario runs. Without a script the form is sent,
// and a page with the whole transcript answers.
"use strict";

// eventsOf reads server-sent events from the body of an answer.
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const event = /^event: (.*)\ndata: (.*)$/.exec(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event) yield [event[1], JSON.parse(event[2])]; // anything else is a sign of life
    }
  }
}

// transcript puts what a run tells on the page.
function transcript(log, { el, attr, markdown, visible }) {
  let steps = null;
  const remedies = [];
  const sentence = (text) => (/[.!?…]$/.test(text) ? text : text + ".");
  const outcome = (text) => (text.endsWith("`") ? text : sentence(text)); // a message keeps its own end
  const fact = (name, value) => value !== null && el("div", el("dt", name), el("dd", el("code", visible(String(value)))));
  const tell = {
    part({ heading, solution }) {
      steps = el("ol.steps");
      if (solution !== null) remedies.push(steps);
      log.append(el("h3", markdown(heading)), steps);
    },
    step({ text, result }) {
      steps.append(el("li", markdown(sentence(text)), result !== "" && el("p.step-result", markdown(outcome(result)))));
    },
    emitted({ text, code, class: name, status, place }) {
      steps.lastElementChild.classList.add("step-fails");
      log.append(
        el("pre.paste", el("code", visible(text))),
        el("dl.facts", fact("Code", code), fact("Class", name), fact("HTTP status", status), fact("Raised at", place.file + ":" + place.line)));
    },
    result({ proven, summary, problems }) {
      if (proven) for (const list of remedies) list.lastElementChild?.classList.add("step-works");
      tell.verdict(proven ? "known" : "failure", proven ? "Proven" : "Not proven", summary, problems);
    },
    verdict(kind, title, summary, problems = []) {
      log.append(el("div.verdict.verdict-" + kind,
        el("h3", title), el("p", summary),
        problems.length > 0 && el("ul", problems.map((p) => el("li", markdown(sentence(p)))))));
    },
  };
  return tell;
}

async function proveLive(form, log, signal) {
  const tell = transcript(log, await import(form.dataset.live));
  log.replaceChildren();
  try {
    const response = await fetch(form.action, { method: "POST", headers: { Accept: "text/event-stream" }, signal });
    if (!response.ok) {
      const problem = await response.json();
      tell.verdict("failure", problem.title, problem.detail);
      return;
    }
    let ended = false;
    for await (const [name, data] of eventsOf(response.body)) {
      ended ||= name === "result";
      if (Object.hasOwn(tell, name)) tell[name](data);
    }
    if (!ended) throw new Error("the answer ended early");
  } catch (failure) {
    if (signal.aborted) tell.verdict("likely", "Stopped", "The run was stopped; nothing of it is left.");
    else tell.verdict("failure", "Broken off", "The connection to the server broke off: " + failure.message + ".");
  }
}

for (const form of document.querySelectorAll("form[data-live]")) {
  const log = form.parentElement.querySelector("[data-live-log]");
  const start = form.querySelector("[type=submit]");
  const stop = form.querySelector("[data-live-stop]");
  let running = null;
  stop.addEventListener("click", () => running?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return;
    running = new AbortController();
    // Not disabled: that would take the focus away from whoever pressed it.
    start.setAttribute("aria-disabled", "true");
    stop.hidden = false;
    await proveLive(form, log, running.signal);
    running = null;
    if (document.activeElement === stop) start.focus();
    stop.hidden = true;
    start.removeAttribute("aria-disabled");
    start.textContent = "Prove it again";
  });
}
