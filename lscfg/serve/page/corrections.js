// Corrections: those that this browser keeps, those that the service keeps, and similar ones that an answer contains.

import {
  UNSTORED, bare, button, counted, element, escaped, failure, fault, get, keep, keyed, readTable, saveTable, speak, state, status, storeName, stored,
  unescaped, unquotedNote,
} from "./base.js";
import { termsFor } from "./glossary.js";

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u; // scripts without blanks
let renew = async () => {};

const memory = () => new Map(stored(storeName("corrections"), []));
// Numbers of the corrections that the service keeps, by their texts. They may be out of date: other people remove
// corrections, and a service with another folder counts from 1 again.
const numbers = () => new Map(stored(storeName("numbers"), []));

function remember(map) {
  const done = keep(storeName("corrections"), [...map]);
  list();
  return done;
}

function forget(source) {
  const known = numbers();
  if (known.delete(source)) keep(storeName("numbers"), [...known]);
}

// The translation that the browser alone keeps for a text; the service answers by its own corrections.
export function kept(source) {
  const key = source.trim();
  return state.system?.corrections && numbers().has(key) ? undefined : memory().get(key);
}

// The translation that the browser keeps for a text whose correction the service has lost: its answer comes from none, and
// names none that the glossary excluded.
export function lost(source, { sentences, warnings = [] }) {
  const key = source.trim(), used = sentences.some(({ memory: recalled }) => (recalled?.id ?? null) !== null);
  const excluded = warnings.some((one) => /excluded the correction \d+$/.test(one));
  return used || excluded || !numbers().has(key) ? undefined : memory().get(key);
}

// The message about a kept translation, and about entries of the glossary that it excludes.
export function keptMessage(source, text) {
  const here = bare(text), excluded = termsFor(source).filter((one) =>
    one.mode !== "soft" && mentions(source, one) && !(one.target ?? [one.source]).some((form) => here.includes(bare(form))));
  const names = excluded.slice(0, 3).map((one) => `“${one.source}”`).join(", ");
  return `Your correction, kept in this browser.${excluded.length ? ` It excluded ${counted(excluded.length, "entry", "entries")} of the glossary: ${names}.` : ""}`;
}

// True if a text contains an entry of the glossary word for word.
function mentions(text, { source, match }) {
  if (UNSPACED.test(source)) return bare(text).includes(bare(source));
  const words = (one) => ` ${one.normalize("NFKC").replace(/\p{Cf}/gu, "").split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean).join(" ")} `;
  const folded = (one) => (match === "exact" ? words(one) : words(one).toUpperCase());
  return folded(text).includes(folded(source));
}

// Keeps a correction, and returns what became of it: a message or a fault, and whether anything keeps it. The service
// removes an earlier one last: if it refuses the new one, the earlier one still answers everyone.
export async function keepCorrection(source, target) {
  const earlier = numbers().get(source);
  const { id, message = "", wrong = "" } = state.system?.corrections ? await learn(source, target) : {};
  if (wrong && earlier !== undefined) return { message, wrong, kept: false };
  const before = earlier === id ? "" : await unlearn(source, earlier);
  const here = remember(memory().set(source, target));
  const faults = [wrong, before && `The earlier correction is still there. ${before}`, here ? "" : UNSTORED];
  return { message, wrong: faults.filter(Boolean).join(" "), kept: here || Boolean(message) };
}

export async function removeCorrection(source) {
  const now = memory();
  now.delete(source);
  const here = remember(now), wrong = await unlearn(source, numbers().get(source));
  await renew();
  if (wrong || !here) fault(wrong || UNSTORED); // now, since a new translation clears faults
}

async function learn(source, target) {
  try {
    const response = await fetch("/corrections", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(keyed({ source, target })),
    });
    if (!response.ok) return { wrong: `The service did not store the correction: ${await failure(response)}` };
    const { id, rules } = await response.json();
    keep(storeName("numbers"), [...numbers().set(source, id)]);
    return { id, message: `Kept. The system has learnt ${counted(rules, "rule", "rules")} from it and uses them from now on.` };
  } catch (error) {
    return { wrong: `The service does not answer: ${error.message}` };
  }
}

// Removes the service's correction of a text by its number, if it is still there; returns the reason if it cannot.
async function unlearn(source, id) {
  if (id === undefined) return "";
  const { gone, wrong } = await removeNumber(id, source);
  if (gone && numbers().get(source) === id) forget(source);
  return gone ? "" : wrong;
}

// Removes the service's correction of that number, if it is one of that text: the service may have given the number to
// another text. `gone`: the service has no such correction.
async function removeNumber(id, source) {
  const key = get("key").value.trim(), headers = key ? { authorization: `Bearer ${key}` } : {};
  try {
    const response = await fetch(`/corrections/${id}?${new URLSearchParams({ source })}`, { method: "DELETE", headers });
    if (response.ok) return { gone: true, wrong: "" };
    const wrong = `The service did not remove the correction: ${await failure(response)}`;
    return { gone: response.status === 404 || response.status === 409, wrong };
  } catch (error) {
    return { gone: false, wrong: `The service does not answer: ${error.message}` };
  }
}

// ---- corrections in an answer ----

// Lists the corrections that answer a sentence, and those of similar sentences; `use` takes the number of the sentence
// and a translation.
export function showRecalled(sentences, use) {
  const items = [], seen = new Set();
  sentences.forEach(({ memory: recalled, source, source_words: words }, number) => {
    if (recalled && recalled.id !== null) items.push(answering(recalled.id, source));
    for (const one of recalled?.similar ?? []) {
      if (seen.has(`${number} ${one.id}`)) continue;
      seen.add(`${number} ${one.id}`);
      const target = element("span", { className: "option" }, one.target);
      speak(target, state.system?.target);
      items.push(element("li", {}, `${Math.round(100 * one.similarity)} % similar: `, difference(one.source, words ?? source), " ",
        button("", () => use(number, one.target), { "aria-label": `Use ${one.target}` })));
      items.at(-1).lastChild.append(target);
    }
  });
  get("recalled-part").hidden = !items.length;
  get("recalled-note").hidden = !seen.size;
  get("recalled").replaceChildren(...items);
}

function answering(id, source) {
  const remove = async () => {
    const own = [...numbers()].find(([text, number]) => number === id && bare(text) === bare(source));
    if (own) { await removeCorrection(own[0]); return; }
    const { wrong } = await removeNumber(id, source);
    await renew();
    if (wrong) fault(wrong);
  };
  return element("li", {}, `Correction ${id} answers “`, element("bdi", {}, source.slice(0, 60)), "”. ",
    button("Remove correction", remove, { "aria-label": `Remove correction ${id}` }));
}

// The words of a stored text, those that the text lacks struck out, those that the text has instead underlined.
function difference(before, after) {
  const one = before.split(" "), other = after.split(" ");
  const common = Array.from({ length: one.length + 1 }, () => new Array(other.length + 1).fill(0));
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) common[i][j] = one[i] === other[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const made = element("bdi", {});
  speak(made, state.system?.source);
  let i = 0, j = 0;
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) { made.append(one[i], " "); i += 1; j += 1; }
    else if (i < one.length && (j === other.length || common[i + 1][j] >= common[i][j + 1])) { made.append(element("del", {}, one[i]), " "); i += 1; }
    else { made.append(element("ins", {}, other[j]), " "); j += 1; }
  }
  return made;
}

// ---- the list ----

export function list() {
  const map = memory();
  get("count").textContent = map.size;
  get("corrections-part").hidden = !map.size;
  get("corrections").replaceChildren(...[...map].map(([source, target]) => {
    const remove = () => { get("corrections-summary").focus(); removeCorrection(source); };
    return element("tr", {}, cell(source, state.system?.source), cell(target, state.system?.target),
      element("td", { className: "row" }, button("Remove", remove, { "aria-label": `Remove ${source.slice(0, 60)}` })));
  }));
}

function cell(text, language) {
  const made = element("td", { textContent: text });
  speak(made, language);
  return made;
}

async function load(file) {
  const map = memory();
  const rows = await readTable(file, ["source", "target"], unescaped);
  for (const { line, cells } of rows ?? []) {
    if (!cells[0] || !cells[1]) { fault(`${file.name}:${line}: source or target is empty`); return; }
    map.set(cells[0], cells[1]);
  }
  if (!rows) return;
  fault("");
  const before = memory();
  if (!remember(map)) return;
  for (const [source, target] of map) if (before.get(source) !== target) forget(source); // the service has another one
  renew();
  status(`${map.size} corrections are kept.`);
  fault(unquotedNote(file, rows));
}

export function startCorrections(action) {
  renew = action;
  get("export").addEventListener("click", () => saveTable([["source", "target"], ...memory()], "corrections.tsv", escaped));
  get("import").addEventListener("change", (event) => { if (event.target.files[0]) load(event.target.files[0]); event.target.value = ""; });
  list();
}
