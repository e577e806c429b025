// The page of lscfg serve. All content is made of elements and text, never of HTML in strings.

const get = (id) => document.getElementById(id);
const WAIT = 300; // milliseconds after the last key
const ALTERNATIVES = 3;
const STORE = "lscfg.corrections";

let system = null;
let running = null; // the request under way
let timer = 0;
let shown = { source: "", text: "" };

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// ---- what this browser keeps ----

function stored(key, otherwise) {
  try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch { return otherwise; }
}

function keep(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); return true; } catch { return false; }
}

const storeName = () => `${STORE}.${system?.source?.code ?? ""}.${system?.target?.code ?? ""}.${system?.system ?? ""}`;
const memory = () => new Map(stored(storeName(), []));

function remember(map) {
  if (!keep(storeName(), [...map])) fault("This browser does not let the page keep anything.");
  listCorrections();
}

// ---- requests ----

const fault = (text) => { get("fault").textContent = text; };
const status = (text) => { get("status").textContent = text; };

function keyed(content) {
  const key = get("key").value.trim();
  return key ? { ...content, api_key: key } : content;
}

async function failure(response) {
  if (response.status === 403) get("key-part").hidden = false;
  try { return (await response.json()).error; } catch { return `${response.status} ${response.statusText}`; }
}

async function translate() {
  clearTimeout(timer);
  running?.abort();
  const source = get("source").value;
  running = new AbortController();
  const own = running;
  fault("");
  if (!source.trim()) { show(source, { translatedText: "", unknown: [], alternatives: [], sentences: [] }); status(""); return; }
  const kept = memory().get(source.trim());
  if (kept !== undefined) {
    show(source, { translatedText: kept, unknown: [], alternatives: [], sentences: [] });
    status("Your correction, kept in this browser.");
    return;
  }
  get("target").setAttribute("aria-busy", "true");
  try {
    const response = await fetch("/translate", {
      method: "POST", signal: own.signal, headers: { "content-type": "application/json" },
      body: JSON.stringify(keyed({ q: source, alternatives: ALTERNATIVES, details: true })),
    });
    if (!response.ok) { fault(await failure(response)); return; }
    const found = await response.json();
    if (own.signal.aborted) return;
    show(source, found);
    status(summary(found));
  } catch (error) {
    if (!own.signal.aborted) fault(`The service does not answer: ${error.message}`);
  } finally {
    if (running === own) get("target").removeAttribute("aria-busy");
  }
}

function summary(found) {
  const count = found.unknown.length;
  const unparsed = found.sentences.filter((one) => one.parsed === false).length;
  const parts = ["Translated."];
  if (count) parts.push(`${count === 1 ? "1 word is" : `${count} words are`} unknown to the system: ${found.unknown.slice(0, 8).join(", ")}${count > 8 ? " …" : ""}`);
  if (unparsed) parts.push(`${unparsed} of the sentences could not be translated.`);
  return parts.join(" ");
}

// ---- the translation ----

function show(source, found) {
  shown = { source, text: found.translatedText };
  const target = get("target");
  target.replaceChildren();
  if (found.sentences.length) for (const sentence of found.sentences) target.append(...sentenceNodes(sentence), sentence.after ?? "");
  else target.append(found.translatedText);
  get("others-part").hidden = !found.alternatives?.length;
  get("others").replaceChildren(...(found.alternatives ?? []).map((text) => {
    const button = element("button", { type: "button", textContent: text });
    button.addEventListener("click", () => { take(text); });
    return element("li", {}, button);
  }));
}

function take(text) {
  const source = shown.source;
  const before = shown.text;
  show(source, { translatedText: text, unknown: [], alternatives: [before], sentences: [] });
  status("Taken for now. Correct and keep it to see it again.");
}

// Stretches of a restored sentence: unknown words in it are marked.
function sentenceNodes(sentence) {
  const text = sentence.translation ?? "";
  const unknown = new Set((sentence.unknown ?? []).map((word) => word.toLowerCase()));
  if (!unknown.size) return [text];
  return text.split(/(\s+)/u).map((word) => {
    const bare = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
    if (!unknown.has(word.toLowerCase()) && !unknown.has(bare)) return word;
    return element("span", { className: "unknown", title: "unknown to the system, passed through" }, word,
      element("span", { className: "sr" }, " (unknown word)"));
  });
}

// ---- corrections ----

function editing(on) {
  for (const id of ["edit", "keep", "cancel"]) get(id).hidden = !on;
  for (const id of ["target", "copy", "correct"]) get(id).hidden = on;
  if (on) { get("edit").value = shown.text; get("edit").focus(); } else get("correct").focus();
}

function keepCorrection() {
  const source = get("source").value.trim();
  const text = get("edit").value.trim();
  if (!source || !text) { fault("A correction needs a text and a translation."); return; }
  remember(memory().set(source, text));
  editing(false);
  translate();
}

function listCorrections() {
  const map = memory();
  get("count").textContent = map.size;
  get("corrections").replaceChildren(...[...map].map(([source, target]) => {
    const remove = element("button", { type: "button", textContent: "Remove", "aria-label": `Remove ${source.slice(0, 60)}` });
    remove.addEventListener("click", () => { const now = memory(); now.delete(source); remember(now); translate(); });
    return element("tr", {}, cell(source, system?.source), cell(target, system?.target),
      element("td", { className: "row" }, remove));
  }));
}

function cell(text, language) {
  const made = element("td", { textContent: text });
  speak(made, language);
  return made;
}

const escaped = (text) => text.replace(/\\/g, "\\\\").replace(/\t/g, "\\t").replace(/\n/g, "\\n").replace(/\r/g, "");
const unescaped = (text) => text.replace(/\\([\\tn])/g, (_, sign) => ({ "\\": "\\", t: "\t", n: "\n" })[sign]);

function exportCorrections() {
  const lines = [...memory()].map((pair) => `${pair.map(escaped).join("\t")}\n`);
  save(new Blob(["source\ttarget\n", ...lines], { type: "text/tab-separated-values" }), "corrections.tsv");
}

async function importCorrections(file) {
  const lines = (await file.text()).replace(/^\ufeff/, "").split(/\r?\n/);
  const map = memory();
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (!line.trim() || (number === 1 && line.trim() === "source\ttarget")) continue;
    const cells = line.split("\t").map((one) => unescaped(one).trim());
    if (cells.length !== 2 || !cells[0] || !cells[1]) { fault(`${file.name}:${number}: expected two columns, source and target`); return; }
    map.set(cells[0], cells[1]);
  }
  fault("");
  remember(map);
  status(`${map.size} corrections are kept.`);
  translate();
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- files ----

async function translateFile(file) {
  const form = new FormData();
  form.append("file", file);
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

function speak(node, language) {
  if (!language) return;
  node.lang = language.code;
  node.dir = language.direction;
}

function describe() {
  const { source, target } = system;
  get("pair").textContent = source && target ? `${source.name} to ${target.name}` : `by ${system.system}`;
  document.title = get("pair").textContent === "" ? "Translate" : `Translate ${get("pair").textContent}`;
  speak(get("source"), source);
  for (const id of ["target", "edit", "others"]) speak(get(id), target);
  if (!system.raw) get("hint").textContent = "This system knows words only: put blanks around each word and sign. The translation follows as you type.";
  get("kinds").textContent = system.files.join(", ");
  get("file").accept = system.files.join(",");
  get("key-part").hidden = !system.api_key;
  get("report").hidden = !system.report;
  const facts = [
    ["System", system.system], ["Rules", system.rules.toLocaleString("en")],
    ["Hidden states", system.latent ? "yes" : "no"], ["Language model", system.language_model ? "yes" : "no"],
    ["Sentence pairs for training", system.pairs.train?.toLocaleString("en")],
    ...system.scores.map((one) => [`${one.name} on ${one.sentences} test sentences`,
      `${one.value.toFixed(1)}${one.interval ? ` ± ${one.interval.toFixed(1)}` : ""}`]),
    ["Longest sentence", `${system.limits.max_words} words`], ["lscfg", system.lscfg],
  ];
  get("facts").replaceChildren(...facts.filter(([, value]) => value !== undefined).map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))));
}

function paint() {
  const chosen = stored("lscfg.scheme", "");
  if (chosen) document.documentElement.dataset.scheme = chosen;
  else delete document.documentElement.dataset.scheme;
  get("scheme").value = chosen;
}

function connect() {
  get("source").addEventListener("input", () => { clearTimeout(timer); running?.abort(); timer = setTimeout(translate, WAIT); });
  get("key").addEventListener("change", translate);
  get("scheme").addEventListener("change", () => { keep("lscfg.scheme", get("scheme").value); paint(); });
  get("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(shown.text); status("Copied."); } catch { fault("The browser does not allow copying; select the text."); }
  });
  get("correct").addEventListener("click", () => editing(true));
  get("cancel").addEventListener("click", () => editing(false));
  get("keep").addEventListener("click", keepCorrection);
  get("export").addEventListener("click", exportCorrections);
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
  paint();
  connect();
  try {
    const response = await fetch("/system");
    if (!response.ok) throw new Error(await failure(response));
    system = await response.json();
    describe();
    listCorrections();
    if (get("source").value) translate();
  } catch (error) {
    fault(`The service does not answer: ${error.message}`);
  }
}

start();
