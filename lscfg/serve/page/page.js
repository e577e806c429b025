// The page of lscfg serve: typing, translations, corrections, files and facts of the system.

import { adopt, button, composing, counted, element, failure, fault, get, keep, keyed, speak, state, status, storeName, stored } from "./base.js";
import { keepCorrection, kept, keptMessage, list as listCorrections, lost, removeCorrection, showRecalled, startCorrections } from "./corrections.js";
import { list as listTerms, startGlossary, termsFor } from "./glossary.js";
import { explain } from "./why.js";
import { anchored, chosen, edit, forget, paint, showWords, startWords } from "./words.js";

const WAIT = 300; // milliseconds after the last key
const ALTERNATIVES = 3;

let running = null; // the request under way
let timer = 0;
let shown = { source: "", text: "" };
let corrected = ""; // the text whose translation is being corrected, which typing may replace meanwhile

// ---- requests ----

async function ask(source, terms, signal, choices) {
  const send = (alternatives) => fetch("/translate", {
    method: "POST", signal, headers: { "content-type": "application/json" },
    body: JSON.stringify(keyed({ q: source, alternatives, details: true, glossary: terms, choices })),
  });
  let response = await send(ALTERNATIVES);
  if (response.status === 413) response = await send(0); // the alternatives of many sentences exceed a limit of their own
  if (response.ok) return response.json();
  throw new Refused(await failure(response, terms));
}

class Refused extends Error {}

async function translate() {
  clearTimeout(timer);
  running?.abort();
  const source = get("source").value;
  running = new AbortController();
  const own = running;
  fault("");
  const correction = kept(source);
  if (!source.trim() || correction !== undefined) {
    forget();
    show(source, { translatedText: correction ?? "", sentences: [] });
    status(correction === undefined ? "" : keptMessage(source, correction));
    get("target").removeAttribute("aria-busy");
    return;
  }
  get("target").setAttribute("aria-busy", "true");
  const terms = termsFor(source), sent = JSON.stringify(terms); // other terms may divide the text into other sentences
  try {
    const same = shown.source === source && shown.sent === sent && shown.sentences.length;
    let found = same && chosen() ? shown : await ask(source, terms, own.signal, []);
    const choices = anchored(found.sentences);
    if (choices.length) found = await ask(source, terms, own.signal, choices);
    else if (found === shown) found = await ask(source, terms, own.signal, []);
    if (own.signal.aborted) return;
    const gone = choices.length ? undefined : lost(source, found);
    if (gone !== undefined) forget();
    show(source, gone === undefined ? found : { translatedText: gone, sentences: [] }, sent);
    status(gone === undefined ? summary(found, choices.length) : `${keptMessage(source, gone)} The service no longer has it.`);
  } catch (error) {
    if (!own.signal.aborted) fault(error instanceof Refused ? error.message : `The service does not answer: ${error.message}`);
  } finally {
    if (running === own) get("target").removeAttribute("aria-busy");
  }
}

function summary(found, choices) {
  const unknown = found.unknown.filter((word) => /[\p{L}\p{N}]/u.test(word)), count = unknown.length;
  const unparsed = found.sentences.filter((one) => one.parsed === false).length;
  const terms = found.sentences.reduce((sum, one) => sum + (one.terms?.length ?? 0), 0) - choices;
  const parts = ["Translated."];
  if (count) parts.push(`${counted(count, "word is", "words are")} unknown to the system: ${unknown.slice(0, 8).join(", ")}${count > 8 ? " …" : ""}.`);
  if (choices) parts.push(`${counted(choices, "choice of yours is", "choices of yours are")} used.`);
  if (terms > 0) parts.push(`${counted(terms, "entry of the glossary is", "entries of the glossary are")} used.`);
  const answered = found.sentences.filter((one) => (one.memory?.id ?? null) !== null).length;
  if (answered) parts.push(`${counted(answered, "sentence comes", "sentences come")} from a correction.`);
  if (unparsed) parts.push(`${counted(unparsed, "sentence", "sentences")} could not be translated.`);
  parts.push(...new Set((found.warnings ?? []).map(asSentence)));
  return parts.join(" ");
}

// A warning of the service, whose subject is the text or a sentence where it names none.
function asSentence(warning) {
  const whole = warning.startsWith("has a sentence ") ? `the text ${warning}` : warning.startsWith("has ") ? `a sentence ${warning}` : warning;
  return `${whole[0].toUpperCase()}${whole.slice(1)}.`;
}

// ---- the translation ----

function show(source, found, sent) {
  shown = { source, sent, text: found.translatedText, sentences: found.sentences };
  showWords(source, found.sentences, get("target"));
  if (!found.sentences.length) get("target").replaceChildren(found.translatedText);
  for (const id of ["copy", "correct"]) get(id).disabled = !found.translatedText;
  get("unkeep").hidden = true;
  showRecalled(found.sentences, (number, target) => take(
    found.sentences.map((row, k) => (k === number ? target : row.translation ?? "") + (row.after ?? "")).join("")));
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
  for (const id of ["edit", "keep", "why", "cancel"]) get(id).hidden = !on;
  get("why-result").hidden = true;
  if (on) { get("word").hidden = true; paint([]); }
  for (const id of ["target", "copy", "correct"]) get(id).hidden = on;
  if (on) { corrected = shown.source.trim(); get("edit").value = shown.text; get("edit").focus(); } else get("correct").focus();
}

async function store() {
  const source = corrected, text = get("edit").value.trim();
  if (!source || !text) { fault("A correction needs a text and a translation."); return; }
  const { message, wrong, kept: done } = await keepCorrection(source, text);
  if (!done) { fault(wrong); return; } // the field keeps the text
  editing(false);
  forget(); // choices would exclude the correction
  await translate();
  if (wrong) fault(wrong);
  if (message) status(message);
  get("unkeep").hidden = get("source").value.trim() !== source;
  get("unkeep").onclick = () => { removeCorrection(source); get("correct").focus(); };
}

// ---- files ----

let files = Promise.resolve(); // ends when all files so far are translated, which is one at a time

function translateFiles(added) {
  const most = state.system?.limits.max_request;
  for (const file of added) {
    const line = element("p", {}, `${file.name} waits.`);
    get("file-status").append(line);
    if (file.size > most) line.replaceChildren(`${file.name} is larger than ${size(most)}.`);
    else files = files.then(() => translateFile(file, line));
  }
}

async function translateFile(file, line) {
  const bar = get("progress"), wrong = (reason) => line.replaceChildren(`${file.name}: ${reason}`);
  bar.removeAttribute("value");
  bar.hidden = false;
  line.replaceChildren(`Sending ${file.name}.`);
  try {
    const form = new FormData(), terms = termsFor(null), key = get("key").value.trim();
    form.append("file", file);
    if (terms.length) form.append("glossary", JSON.stringify(terms));
    if (key) form.append("api_key", key);
    const response = await fetch("/translate_file?progress=1&download=1", { method: "POST", body: form });
    if (!response.ok) { wrong(await failure(response, terms)); return; }
    for await (const event of linesAndFile(response.body)) {
      if (event.error) { wrong(event.error); return; }
      if (event.name) {
        const link = element("a", { href: URL.createObjectURL(new Blob([event.file])), download: event.name }, `Download ${event.name}`);
        line.replaceChildren(link, ...event.warnings.map((one) => element("span", { className: "note why" }, one)));
      } else {
        bar.max = Math.max(1, event.of);
        bar.value = event.done;
        if (event.done === 0) line.replaceChildren(`Translating ${file.name}: ${counted(event.of, "sentence", "sentences")}.`);
      }
    }
  } catch (error) {
    wrong(`The service does not answer: ${error.message}`);
  } finally {
    bar.hidden = true;
  }
}

// The lines of an answer; the file follows the line with its name.
async function* linesAndFile(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", last = {};
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rest += value;
    for (let end; !last.name && (end = rest.indexOf("\n")) >= 0; rest = rest.slice(end + 1)) {
      last = JSON.parse(rest.slice(0, end));
      if (!last.name) yield last;
    }
  }
  if (last.name) yield { ...last, file: rest };
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
    ["System", system.system], ["Languages", source && target ? `${source.name} to ${target.name}` : undefined], ["Rules", system.rules === null ? "found for each sentence" : system.rules.toLocaleString("en")],
    ["Entries of the service's glossary", system.terms || undefined], ["Hidden states", system.latent ? "yes" : "no"], ["Language model", system.language_model ? "yes" : "no"],
    ["Sentence pairs for training", system.pairs.train?.toLocaleString("en")],
    ...system.scores.map((one) => [`${one.name} on ${one.sentences} test sentences`,
      `${one.value.toFixed(1)}${one.interval ? ` ± ${one.interval.toFixed(1)}` : ""}`]),
    ["Corrections", system.corrections ? "kept by the service" : "kept by your browser"],
    ["Longest sentence", `${system.limits.max_words} words, ${system.limits.max_characters.toLocaleString("en")} characters`],
    ["Longest text", `${system.limits.max_sentences} sentences`], ["Largest file", size(system.limits.max_request)],
    ["Longest wait", `${system.limits.timeout} seconds`], ["lscfg", system.lscfg],
  ];
  get("facts").replaceChildren(...facts.filter(([, value]) => value !== undefined).map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))));
}

const size = (bytes) => (bytes < 1 << 20 ? `${Math.floor(bytes / 1024)} KiB` : `${Math.floor(10 * bytes / (1 << 20)) / 10} MiB`);

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
  window.addEventListener("storage", () => { listCorrections(); listTerms(); }); // of another tab
  get("key").addEventListener("change", translate);
  get("scheme").addEventListener("change", () => { keep("lscfg.scheme", get("scheme").value); colour(); });
  get("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(shown.text); status("Copied."); } catch { fault("The browser does not allow copying; select the text."); }
  });
  get("correct").addEventListener("click", () => editing(true));
  get("cancel").addEventListener("click", () => editing(false));
  get("keep").addEventListener("click", store);
  get("why").addEventListener("click", () => explain(corrected, get("edit").value.trim()));
  get("edit").addEventListener("keydown", (event) => { if (event.key === "Escape" && !composing(event)) editing(false); });
  get("file-form").addEventListener("submit", (event) => event.preventDefault());
  get("file").addEventListener("change", (event) => { translateFiles(event.target.files); event.target.value = ""; });
  const drop = get("drop");
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    translateFiles(event.dataTransfer.files);
  });
}

async function learnFacts() {
  const response = await fetch("/system");
  if (!response.ok) throw new Error(await failure(response));
  state.system = await response.json();
  adopt();
  describe();
}

async function refresh() {
  const before = storeName("glossary");
  await learnFacts();
  if (storeName("glossary") !== before) { listCorrections(); listTerms(); }
}

async function start() {
  colour();
  connect();
  startWords(translate);
  try {
    await learnFacts();
    startCorrections(translate);
    startGlossary(translate);
    window.addEventListener("focus", () => refresh().catch(() => {})); // lscfg quick replaces its system
    grow();
    if (get("source").value) translate();
  } catch (error) {
    fault(`The service does not answer: ${error.message}`);
  }
}

start();
