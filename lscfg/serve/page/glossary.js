// The glossary, which this browser keeps and sends with each request.

import { bare, button, element, fault, get, keep, readTable, saveTable, speak, state, status, storeName, stored, unquotedNote } from "./base.js";

const MODES = { hard: "always", stem: "always, any ending", soft: "prefer", keep: "leave as it is" }; // stem: hard, match=stem
const LONGEST = 200, MOST = 1000;
let changed = () => {};
let edited = null; // the source of the entry in the form

const tidy = (text) => text.replace(/\s+/g, " ").trim(); // a tab would end a cell of the export
const entries = () => new Map(stored(storeName("glossary"), []).map(([source, one]) => [tidy(source), { ...one, target: tidy(one.target) }]));
const ENTITY = /&#?\w+;/; // the service reads its character
const matched = (source) => source === source.toLowerCase() ? "nocase" : "exact";
const forms = (target) => target.split("|").map((one) => one.trim()).filter(Boolean);

// The entries that may occur in a text, as the service reads them; all without a text. A source in small letters ignores
// capitals. The service decides which entries occur, so that this may find too many, but never too few.
export function termsFor(text) {
  const whole = text === null || ENTITY.test(text) ? null : bare(text);
  const may = (source, mode) => mode === "stem" || whole === null || ENTITY.test(source) || whole.includes(bare(source));
  return [...entries()].filter(([source, { mode }]) => may(source, mode)).map(([source, { target, mode }]) => ({
    source, ...(mode === "stem" ? { mode: "hard", match: "stem" } : { mode, match: matched(source) }), ...(mode === "keep" ? {} : { target: forms(target) }),
  }));
}

// Stores the entries; false if they exceed the service's limit, or if the browser cannot.
function remember(map) {
  if (map.size > MOST) {
    fault(`The glossary would contain ${map.size} entries; at most ${MOST} are allowed. For a larger one, use lscfg serve --glossary.`);
    return false;
  }
  if (!keep(storeName("glossary"), [...map])) return false;
  list();
  changed();
  return true;
}

function problem(source, target, mode) {
  if (!source) return "an entry needs a text";
  if (mode !== "keep" && !forms(target).length) return "an entry needs a translation, or the use “leave as it is”";
  if ([source, ...forms(target)].some((one) => [...one].length > LONGEST)) return `an entry has at most ${LONGEST} characters`;
  if (forms(target).length > 16) return "an entry has at most 16 translations";
  return "";
}

export function list() {
  const map = entries();
  get("term-count").textContent = map.size;
  get("terms-part").hidden = !map.size;
  get("terms").replaceChildren(...[...map].map(([source, { target, mode }]) => {
    const name = source.slice(0, 60);
    const cells = [[source, state.system?.source], [mode === "keep" ? "" : forms(target).join(" | "), state.system?.target]].map(([text, language]) => {
      const cell = element("td", { textContent: text });
      speak(cell, language);
      return cell;
    });
    return element("tr", {}, ...cells, element("td", { textContent: MODES[mode] }), element("td", { className: "row" },
      button("Edit", () => edit(source, target, mode), { "aria-label": `Edit ${name}` }),
      button("Remove", () => { const now = entries(); now.delete(source); if (remember(now)) status(`Removed: ${name}`); get("term-source").focus(); }, { "aria-label": `Remove ${name}` })));
  }));
}

function edit(source, target, mode) {
  edited = source;
  get("term-source").value = source;
  get("term-target").value = target;
  get("term-mode").value = mode;
  form();
  get("term-source").focus();
}

// Fills the form with words of a translation.
export function suggest(words, target) {
  const source = tidy(words);
  get("glossary-part").open = true;
  edit(source, entries().get(source)?.target ?? target, entries().get(source)?.mode ?? "hard");
  if (!entries().has(source)) { edited = null; form(); }
  get("term-target").focus();
  get("term-target").select();
}

function form() {
  get("term-add").textContent = edited === null ? "Add" : "Save";
  get("term-stop").hidden = edited === null;
  get("term-target").disabled = get("term-mode").value === "keep";
}

function clear() {
  edited = null;
  for (const id of ["term-source", "term-target"]) get(id).value = "";
  get("term-mode").value = "hard";
  form();
  get("term-source").focus();
}

function add(event) {
  event.preventDefault();
  const source = tidy(get("term-source").value), target = tidy(get("term-target").value), mode = get("term-mode").value;
  const reason = problem(source, target, mode);
  get("term-fault").textContent = reason ? `${reason[0].toUpperCase()}${reason.slice(1)}.` : "";
  if (reason) return;
  const map = entries();
  if (edited !== null && edited !== source) map.delete(edited);
  if (remember(map.set(source, { target: mode === "keep" ? "" : target, mode }))) clear();
}

async function load(file) {
  const map = entries();
  const rows = await readTable(file, ["source", "target", "mode", "match"]);
  for (const { line, cells } of rows ?? []) {
    const [source, target, , match] = cells;
    let mode = cells[2] || (target ? "hard" : "keep"), reason = problem(source, target, mode);
    if (!(mode in MODES) || mode === "stem") reason = "the mode must be hard, soft or keep";
    else if (match === "stem" && mode === "hard") mode = "stem";
    else if (match && match !== matched(source)) reason = `here match is ${matched(source)}, or stem with mode hard`;
    if (reason) { fault(`${file.name}:${line}: ${reason}`); return; }
    map.set(source, { target: mode === "keep" ? "" : target, mode });
  }
  if (!rows) return;
  fault("");
  if (!remember(map)) return;
  status(`The glossary contains ${map.size} entries.`);
  fault(unquotedNote(file, rows));
}

export function startGlossary(action) {
  changed = action;
  get("term-form").addEventListener("submit", add);
  get("term-mode").addEventListener("change", form);
  get("term-stop").addEventListener("click", clear);
  get("term-export").addEventListener("click", () => saveTable( // the mode first: a line that begins with # is a comment
    [["mode", "match", "source", "target"], ...[...entries()].map(([source, { target, mode }]) => [...(mode === "stem" ? ["hard", mode] : [mode, matched(source)]), source, target])], "glossary.tsv"));
  get("term-import").addEventListener("change", (event) => { if (event.target.files[0]) load(event.target.files[0]); event.target.value = ""; });
  list();
}
