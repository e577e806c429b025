// The page of lscfg serve: typing, translations, corrections, files and facts of the system.

import { button, element, fault, get, keep, readTable, saveTable, speak, state, status, storeName, stored } from "./base.js";
import { startGlossary, termsFor } from "./glossary.js";
import { anchored, chosen, edit, forget, paint, showWords, startWords } from "./words.js";

const WAIT = 300; // milliseconds after the last key
const ALTERNATIVES = 3;

let running = null; // the request under way
let timer = 0;
let shown = { source: "", text: "" };

const memory = () => new Map(stored(storeName("corrections"), []));

function remember(map) {
  keep(storeName("corrections"), [...map]);
  listCorrections();
}

// ---- requests ----

function keyed(content) {
  const key = get("key").value.trim();
  return key ? { ...content, api_key: key } : content;
}

async function failure(response) {
  if (response.status === 403) get("key-part").hidden = false;
  try { return (await response.json()).error; } catch { return `${response.status} ${response.statusText}`; }
}

async function ask(source, signal, choices) {
  const terms = termsFor(source);
  const response = await fetch("/translate", {
    method: "POST", signal, headers: { "content-type": "application/json" },
    body: JSON.stringify(keyed({ q: source, alternatives: ALTERNATIVES, details: true, glossary: terms, choices })),
  });
  if (response.ok) return response.json();
  const message = await failure(response);
  throw new Refused(message.replace(/^glossary\[(\d+)\](\.\w+)?/, (_, k) => `Glossary, “${terms[k]?.source}”`));
}

class Refused extends Error {}

async function translate() {
  clearTimeout(timer);
  running?.abort();
  const source = get("source").value;
  running = new AbortController();
  const own = running;
  fault("");
  const kept = memory().get(source.trim());
  if (!source.trim() || kept !== undefined) {
    forget();
    show(source, { translatedText: kept ?? "", sentences: [] });
    status(kept === undefined ? "" : "Your correction, kept in this browser.");
    get("target").removeAttribute("aria-busy");
    return;
  }
  get("target").setAttribute("aria-busy", "true");
  try {
    const same = shown.source === source && shown.sentences.length;
    let found = same && chosen() ? shown : await ask(source, own.signal, []);
    const choices = anchored(found.sentences);
    if (choices.length) found = await ask(source, own.signal, choices);
    else if (found === shown) found = await ask(source, own.signal, []);
    if (own.signal.aborted) return;
    show(source, found);
    status(summary(found, choices.length));
  } catch (error) {
    if (!own.signal.aborted) fault(error instanceof Refused ? error.message : `The service does not answer: ${error.message}`);
  } finally {
    if (running === own) get("target").removeAttribute("aria-busy");
  }
}

const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

function summary(found, choices) {
  const unknown = found.unknown.filter((word) => /[\p{L}\p{N}]/u.test(word)), count = unknown.length;
  const unparsed = found.sentences.filter((one) => one.parsed === false).length;
  const terms = found.sentences.reduce((sum, one) => sum + (one.terms?.length ?? 0), 0) - choices;
  const parts = ["Translated."];
  if (count) parts.push(`${counted(count, "word is", "words are")} unknown to the system: ${unknown.slice(0, 8).join(", ")}${count > 8 ? " …" : ""}.`);
  if (choices) parts.push(`${counted(choices, "choice of yours is", "choices of yours are")} used.`);
  if (terms > 0) parts.push(`${counted(terms, "entry of the glossary is", "entries of the glossary are")} used.`);
  if (unparsed) parts.push(`${counted(unparsed, "sentence", "sentences")} could not be translated.`);
  return parts.join(" ");
}

// ---- the translation ----

function show(source, found) {
  shown = { source, text: found.translatedText, sentences: found.sentences };
  showWords(source, found.sentences, get("target"));
  if (!found.sentences.length) get("target").replaceChildren(found.translatedText);
  for (const id of ["copy", "correct"]) get(id).disabled = !found.translatedText;
  get("others-part").hidden = !found.alternatives?.length;
  get("others").replaceChildren(...(found.alternatives ?? []).map((text) => element("li", {}, button(text, () => take(text)))));
}

function take(text) {
  const { source, text: before } = shown;
  show(source, { translatedText: text, alternatives: [before], sentences: [] });
  status("Shown for now. To keep this translation, choose Correct, then Keep correction.");
  get("correct").focus();
}

// ---- corrections ----

function editing(on) {
  for (const id of ["edit", "keep", "cancel"]) get(id).hidden = !on;
  for (const id of ["target", "copy", "correct"]) get(id).hidden = on;
  if (on) { get("edit").value = shown.text; get("edit").focus(); } else get("correct").focus();
}

async function keepCorrection() {
  const source = get("source").value.trim();
  const text = get("edit").value.trim();
  if (!source || !text) { fault("A correction needs a text and a translation."); return; }
  await unlearn(source);
  remember(memory().set(source, text));
  editing(false);
  await translate();
  await learn(source, text);
}

// ---- corrections that the service keeps; their numbers stay here ----

const numbers = () => new Map(stored(storeName("numbers"), []));

async function learn(source, target) {
  if (!state.system?.corrections) return;
  try {
    const response = await fetch("/corrections", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(keyed({ source, target })),
    });
    if (!response.ok) { fault(`The service did not store the correction: ${await failure(response)}`); return; }
    const { id, rules } = await response.json();
    keep(storeName("numbers"), [...numbers().set(source, id)]);
    status(`Kept. The system has learnt ${counted(rules, "rule", "rules")} from it.`);
  } catch (error) {
    fault(`The service does not answer: ${error.message}`);
  }
}

async function unlearn(source) {
  const known = numbers(), id = known.get(source);
  if (id === undefined) return;
  known.delete(source);
  keep(storeName("numbers"), [...known]);
  const key = get("key").value.trim();
  try {
    const response = await fetch(`/corrections/${id}`, { method: "DELETE", headers: key ? { authorization: `Bearer ${key}` } : {} });
    if (!response.ok && response.status !== 404) fault(`The service did not remove the correction: ${await failure(response)}`);
  } catch (error) {
    fault(`The service does not answer: ${error.message}`);
  }
}

function listCorrections() {
  const map = memory();
  get("count").textContent = map.size;
  get("corrections-part").hidden = !map.size;
  get("corrections").replaceChildren(...[...map].map(([source, target]) => {
    const remove = async () => {
      const now = memory();
      now.delete(source);
      remember(now);
      get("corrections-summary").focus();
      await unlearn(source);
      translate();
    };
    return element("tr", {}, cell(source, state.system?.source), cell(target, state.system?.target),
      element("td", { className: "row" }, button("Remove", remove, { "aria-label": `Remove ${source.slice(0, 60)}` })));
  }));
}

function cell(text, language) {
  const made = element("td", { textContent: text });
  speak(made, language);
  return made;
}

async function importCorrections(file) {
  const map = memory();
  const rows = await readTable(file, ["source", "target"]);
  for (const { line, cells } of rows ?? []) {
    if (!cells[0] || !cells[1]) { fault(`${file.name}:${line}: source or target is empty`); return; }
    map.set(cells[0], cells[1]);
  }
  if (!rows) return;
  fault("");
  remember(map);
  status(`${map.size} corrections are kept.`);
  translate();
}

// ---- files ----

async function translateFile(file) {
  const form = new FormData();
  form.append("file", file);
  const terms = termsFor(null);
  if (terms.length) form.append("glossary", JSON.stringify(terms));
  if (get("key").value.trim()) form.append("api_key", get("key").value.trim());
  const bar = get("progress"), line = get("file-status");
  bar.removeAttribute("value");
  bar.hidden = false;
  line.replaceChildren(`Sending ${file.name}.`);
  try {
    const response = await fetch("/translate_file?progress=1", { method: "POST", body: form });
    if (!response.ok) { line.replaceChildren(await failure(response)); return; }
    for await (const event of jsonLines(response.body)) {
      if (event.error) { line.replaceChildren(event.error); return; }
      if (event.translatedFileUrl) {
        const link = element("a", { href: new URL(event.translatedFileUrl).pathname, download: event.name }, `Download ${event.name}`);
        line.replaceChildren(link, ...event.warnings);
      } else {
        bar.max = Math.max(1, event.of);
        bar.value = event.done;
        if (event.done === 0) line.replaceChildren(`Translating ${event.of} sentences.`);
      }
    }
  } catch (error) {
    line.replaceChildren(`The service does not answer: ${error.message}`);
  } finally {
    bar.hidden = true;
  }
}

async function* jsonLines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

// ---- the system ----

function describe() {
  const { system } = state, { source, target } = system;
  get("pair").textContent = source && target ? `${source.name} to ${target.name}` : `by ${system.system}`;
  document.title = get("pair").textContent === "" ? "Translate" : `Translate ${get("pair").textContent}`;
  for (const id of ["source", "mirror", "term-source"]) speak(get(id), source);
  for (const id of ["target", "edit", "others", "term-target"]) speak(get(id), target);
  if (!system.raw) get("hint").textContent = "This system takes tokenised text only: put blanks around each word and punctuation mark. The translation follows as you type.";
  if (system.corrections) get("learns").textContent = "The service stores the corrections that you keep here, learns their rules at once, and uses them for all users until you remove them. Imported corrections stay in this browser.";
  get("kinds").textContent = system.files.join(", ");
  get("file").accept = system.files.join(",");
  get("key-part").hidden = !system.api_key;
  get("report").hidden = !system.report;
  const facts = [
    ["System", system.system], ["Rules", system.rules.toLocaleString("en")],
    ["Entries of the service's glossary", system.terms || undefined], ["Hidden states", system.latent ? "yes" : "no"], ["Language model", system.language_model ? "yes" : "no"],
    ["Sentence pairs for training", system.pairs.train?.toLocaleString("en")],
    ...system.scores.map((one) => [`${one.name} on ${one.sentences} test sentences`,
      `${one.value.toFixed(1)}${one.interval ? ` ± ${one.interval.toFixed(1)}` : ""}`]),
    ["Longest sentence", `${system.limits.max_words} words`], ["lscfg", system.lscfg],
  ];
  get("facts").replaceChildren(...facts.filter(([, value]) => value !== undefined).map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))));
}

function colour() {
  const scheme = stored("lscfg.scheme", "");
  if (scheme) document.documentElement.dataset.scheme = scheme;
  else delete document.documentElement.dataset.scheme;
  get("scheme").value = scheme;
}

// The field grows with its text, so that it never scrolls and the mirror under it fits.
function grow() {
  const field = get("source");
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

function connect() {
  get("source").addEventListener("input", () => {
    clearTimeout(timer);
    running?.abort();
    grow();
    paint([]);
    edit(get("source").value);
    timer = setTimeout(translate, WAIT);
  });
  window.addEventListener("resize", grow);
  get("key").addEventListener("change", translate);
  get("scheme").addEventListener("change", () => { keep("lscfg.scheme", get("scheme").value); colour(); });
  get("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(shown.text); status("Copied."); } catch { fault("The browser does not allow copying; select the text."); }
  });
  get("correct").addEventListener("click", () => editing(true));
  get("cancel").addEventListener("click", () => editing(false));
  get("keep").addEventListener("click", keepCorrection);
  get("edit").addEventListener("keydown", (event) => { if (event.key === "Escape") editing(false); });
  get("export").addEventListener("click", () => saveTable([["source", "target"], ...memory()], "corrections.tsv"));
  get("import").addEventListener("change", (event) => { if (event.target.files[0]) importCorrections(event.target.files[0]); event.target.value = ""; });
  get("file-form").addEventListener("submit", (event) => event.preventDefault());
  get("file").addEventListener("change", (event) => { if (event.target.files[0]) translateFile(event.target.files[0]); event.target.value = ""; });
  const drop = get("drop");
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) translateFile(event.dataTransfer.files[0]);
  });
}

async function start() {
  colour();
  connect();
  startWords(translate);
  try {
    const response = await fetch("/system");
    if (!response.ok) throw new Error(await failure(response));
    state.system = await response.json();
    describe();
    listCorrections();
    startGlossary(translate);
    grow();
    if (get("source").value) translate();
  } catch (error) {
    fault(`The service does not answer: ${error.message}`);
  }
}

start();
