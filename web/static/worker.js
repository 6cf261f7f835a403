// The diagnosis of a site that is made of plain files, away from the page so
// that the page stays alive. The first message names the files; each further one
// holds a text and is answered with what is to be said about it.
"use strict";

async function open({ runtime, program, entries }) {
  const get = async (address) => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(address + ": " + response.status);
    return response;
  };
  const loaded = Promise.all([
    get(program).then(compile),
    get(entries).then((response) => response.arrayBuffer()),
  ]);
  importScripts(runtime); // stands still until it has come, while the others are on their way
  const [code, records] = await loaded;
  const go = new Go();
  go.run(await WebAssembly.instantiate(code, go.importObject));
  const failure = kbOpen(new Uint8Array(records));
  if (failure) throw new Error(failure);
}

// A file server that does not know the type of the program cannot have it
// compiled on the way.
async function compile(response) {
  return response.headers.get("Content-Type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

// answer diagnoses a text, and adds what else the page says of its records.
function answer(text, limit) {
  const json = new TextDecoder().decode(kbDiagnose(text, limit));
  const about = {};
  for (const { record } of JSON.parse(json).diagnoses) about[record.id] = kbAbout(record.id);
  return { json, about };
}

let ready = null;

addEventListener("message", async ({ data }) => {
  if (data.open) {
    ready = open(data.open);
    ready.then(() => postMessage({ ready: true }), (failure) => postMessage({ failure: String(failure) }));
    return;
  }
  try {
    await ready;
    postMessage({ id: data.id, ...answer(data.text, data.limit) });
  } catch (failure) {
    postMessage({ id: data.id, failure: String(failure) });
  }
});
