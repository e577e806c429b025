// The words of the translation: source words, posteriors, other translations, and choices among these.

import { button, composing, element, get, speak, state, units } from "./base.js";
import { suggest } from "./glossary.js";

const UNSURE = 0.5;
export const REASONS = [
  [/^(PassThrough|Glue)/, "ways around missing rules"], [/Lex/, "translations of single words"], [/E(given|Given)F/, "how often it is the translation of these words"],
  [/F(given|Given)E/, "how often these words are its source"], [/^Latent|Ratio|State/, "the structure of the sentence"],
  [/context/i, "the surrounding words"], [/Count|Singleton|Sample/, "evidence in the training text"], [/Penalty/, "length"],
];

let rows = []; // sentences: where they begin in the text, their details
let choices = []; // { begin, end, target, text }: places in that text, which is the typed one
let text = "";
let pinned = null; // the button of the word whose facts stay
let refocus = null; // a place of the text whose word gets the focus when it is shown, unless a person goes elsewhere
let shownWords = []; // buttons with the places of their source words
let renew = () => {};

export const chosen = () => choices.length;
const percent = (share) => (share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(100 * share)} %`);

// The confidence in a word, with the share of right words in its band; without a calibration, the posterior of the search.
function certainty(word) {
  const bands = state.system?.confidence?.words ?? [], band = bands.find(({ least }) => word.confidence >= least);
  if (!band) return `${percent(word.posterior)} in the system’s search, not a calibrated confidence`;
  const name = ["very sure", "fairly sure", "not sure", "guessing"][bands.indexOf(band)], share = percent(word.confidence);
  return `${share}: the system is ${name}` + (band.count ? `; of such words, ${band.right} of ${band.count} occurred in the reference` : "");
}

const least = (words, key) => words.reduce((one, other) => (other[key] < one[key] ? other : one));

// ---- choices in a text that changes ----

// Moves the choices with an edit, and drops those whose words it touches.
export function edit(after) {
  refocus = null;
  choices = choices.map((one) => moved(one, after)).filter(Boolean);
}

function moved(one, after) {
  const before = one.text;
  if (before === after) return one;
  let left = 0, right = 0;
  const least = Math.min(before.length, after.length);
  while (left < least && before[left] === after[left]) left += 1;
  while (right < least - left && before[before.length - 1 - right] === after[after.length - 1 - right]) right += 1;
  const shift = after.length - before.length, end = before.length - right;
  if (one.end <= left) return { ...one, text: after };
  return one.begin >= end ? { ...one, begin: one.begin + shift, end: one.end + shift, text: after } : null;
}

// The choices in the words of an answer, as the service reads them; those that no longer fit are dropped.
export function anchored(sentences) {
  const found = places(sentences), asked = [];
  choices = choices.filter((one) => {
    const number = found.findIndex((row) => row.begin <= one.begin && one.end <= row.end);
    if (number < 0) return false;
    const { ranges } = found[number];
    const first = ranges.findIndex(([begin, end]) => begin === one.begin && end > begin), last = ranges.findLastIndex(([, end]) => end === one.end);
    if (first < 0 || last < first) return false;
    asked.push({ sentence: number, span: [first, last + 1], target: one.target });
    return true;
  });
  return asked;
}

function places(sentences, whole) {
  const found = [];
  let begin = 0;
  for (const row of sentences) {
    if (row.source) {
      const unit = units(row.source), at = begin;
      found.push({ begin, end: begin + row.source.length, text: whole, details: row.details, stored: row.memory?.id ?? null,
        ranges: (row.details?.source_ranges ?? []).map(([i, j]) => [at + unit(i), at + unit(j)]) });
    }
    begin += row.source.length + row.gap.length;
  }
  return found;
}

// The row and its words may be those of an earlier text.
function choose(row, span, target) {
  const begin = row.ranges[span[0]][0], end = row.ranges[span[1] - 1][1], after = get("source").value;
  edit(after);
  const made = moved({ begin, end, target, text: row.text }, after);
  if (made) choices = [...choices.filter((one) => one.end <= made.begin || one.begin >= made.end), made];
  again(made?.begin ?? null);
}

function choiceOf(row, links) {
  return choices.find((one) => links.some((k) => {
    const [begin, end] = row.ranges[k], here = moved({ begin, end, text: row.text }, one.text);
    return here && one.begin <= here.begin && here.end <= one.end;
  }));
}

function drop(one) {
  choices = choices.filter((other) => other !== one);
  again(one?.begin ?? null);
}

// Asks for a new translation; afterwards the word of that place gets the focus, which is gone with the old words.
function again(place) {
  unpin();
  edit(get("source").value);
  refocus = place;
  renew();
}

export function undo() {
  if (choices.length) drop(choices.at(-1));
}

export function forget() {
  choices = [];
}

// ---- the words ----

// Pieces of words are shown as one word, as are words that no blank separates where the system has pieces.
function groups(row, translation) {
  const letters = /[\p{L}\p{N}\p{M}]/u, found = [];
  for (const word of row.details?.words ?? []) {
    const [begin, end] = word.range, last = found.at(-1);
    if (begin === end) continue;
    if (last && state.system?.pieces && last.end === begin && letters.test(translation[begin - 1]) && letters.test(translation[begin])) {
      last.words.push(word);
      last.end = end;
    } else found.push({ begin, end, words: [word] });
  }
  return found;
}

export function showWords(source, sentences, target) {
  const typing = !get("word").hidden && document.activeElement?.closest?.("#word .own"); // which a late answer must not end
  text = source;
  rows = places(sentences, source);
  shownWords = [];
  if (!typing) unpin();
  let number = -1;
  target.replaceChildren();
  for (const sentence of sentences) {
    const row = sentence.source ? rows[number += 1] : null;
    const whole = sentence.translation ?? "", signs = [...whole];
    let at = 0;
    for (const group of row ? groups(row, signs) : []) {
      if (group.begin > at) target.append(signs.slice(at, group.begin).join(""));
      target.append(wordButton(row, group, signs.slice(group.begin, group.end).join("")));
      at = group.end;
    }
    target.append(signs.slice(at).join(""), sentence.after ?? "");
  }
  const first = shownWords[0]?.made;
  if (first) first.tabIndex = 0;
  if (refocus !== null && first && !typing) (shownWords.find(({ ranges }) => ranges.some(([i, j]) => i <= refocus && refocus < j))?.made ?? first).focus();
  refocus = null;
  get("legend").hidden = !first;
  get("undo").hidden = !choices.length;
}

function wordButton(row, group, shown) {
  const links = [...new Set(group.words.flatMap((word) => word.links))].sort((a, b) => a - b);
  const key = group.words.every((word) => "confidence" in word) ? "confidence" : "posterior", word = least(group.words, key);
  const own = Boolean(choiceOf(row, links));
  const unknown = group.words.some((word) => word.unknown) && !own;
  const made = element("button", { type: "button", className: "word", tabIndex: -1, "aria-describedby": "word-facts" }, shown);
  if (unknown) { made.classList.add("unknown"); made.append(element("span", { className: "sr" }, " (unknown word)")); }
  else if (own) { made.classList.add("chosen"); made.append(element("span", { className: "sr" }, " (your choice)")); }
  else if (word[key] < UNSURE) made.classList.add("unsure");
  shownWords.push({ made, ranges: links.map((k) => row.ranges[k]) });
  const facts = { row, group, shown, links, word, unknown, own };
  made.addEventListener("mouseenter", () => { if (!pinned && !document.activeElement?.closest?.("#word")) look(made, facts); });
  made.addEventListener("focus", () => { roam(made); look(made, facts); });
  made.addEventListener("click", () => { look(made, facts); pinned = made; get("word").querySelector("button")?.focus(); });
  return made;
}

function look(made, { row, group, shown, links, word, unknown, own }) {
  if (pinned && pinned !== made) unpin();
  for (const one of document.querySelectorAll(".word.looked")) one.classList.remove("looked");
  made.classList.add("looked");
  paint(links.map((k) => row.ranges[k]));
  const words = links.map((k) => row.text.slice(...row.ranges[k])).join(" … ").replaceAll(" … ", adjacent(links) ? " " : " … ");
  const from = words ? `from “${words}”` : "linked to no source word";
  const how = unknown ? "unknown to the system, passed through" : own ? "your choice" : row.stored !== null ? `from correction ${row.stored}` : certainty(word);
  get("word-facts").replaceChildren(element("bdi", { className: "term" }, shown), `, ${from}; ${how}.`);
  const seen = new Set(), listed = [];
  for (const one of group.words.flatMap((word) => word.alternatives)) {
    const key = `${one.span} ${one.text}`;
    if (seen.has(key)) continue;
    seen.add(key);
    listed.push(one);
  }
  const items = listed.slice(0, 5).map((one) => alternative(row, one));
  if (choiceOf(row, links)) items.unshift(element("li", {}, button("Undo this choice", () => drop(choiceOf(row, links)))));
  if (links.length) {
    items.push(element("li", {}, ownWords(row, [links[0], links.at(-1) + 1])));
    items.push(element("li", {}, button("Add to glossary", () => suggest(row.text.slice(row.ranges[links[0]][0], row.ranges[links.at(-1)][1]), shown))));
  }
  get("alternatives").replaceChildren(...items);
  get("word").hidden = false;
}

const adjacent = (links) => links.at(-1) - links[0] === links.length - 1;

function alternative(row, one) {
  const source = row.text.slice(row.ranges[one.span[0]][0], row.ranges[one.span[1] - 1][1]);
  const take = button("", () => choose(row, one.span, one.text));
  const label = element("span", { className: "option" }, one.text);
  speak(label, state.system?.target);
  take.append(label, element("span", { className: "note" }, ` ${percent(one.posterior)} for “${source}”`));
  const item = element("li", {}, take);
  const why = reason(one);
  if (why) item.append(element("span", { className: "note why" }, why));
  return item;
}

// Why the system did not take it, in words.
function reason(one) {
  const reasons = (one.reasons ?? []).filter(({ difference }) => difference < 0);
  if (one.difference > 0) return "its rule alone scores higher, but the context favours the other";
  if (!reasons.length) return "";
  const named = reasons.map(({ feature }) => REASONS.find(([pattern]) => pattern.test(feature))?.[1] ?? feature);
  return `less likely because of ${[...new Set(named)].slice(0, 2).join(" and ")}`;
}

function ownWords(row, span) {
  const source = row.text.slice(row.ranges[span[0]][0], row.ranges[span[1] - 1][1]);
  const field = element("input", { className: "own", maxLength: 200, "aria-label": `Other translation of ${source}`, placeholder: "other words" });
  speak(field, state.system?.target);
  const use = () => { if (field.value.trim()) choose(row, span, field.value.trim()); };
  field.addEventListener("keydown", (event) => { if (event.key === "Enter" && !composing(event)) { event.preventDefault(); use(); } });
  const part = element("span", { className: "own-part" }, field, button("Use", use, { "aria-label": `Use these words for ${source}` }));
  return part;
}

// ---- focus ----

function roam(made) {
  for (const one of get("target").querySelectorAll(".word")) one.tabIndex = one === made ? 0 : -1;
}

function unpin() {
  pinned = null;
  get("word").hidden = true;
  for (const one of document.querySelectorAll(".word.looked")) one.classList.remove("looked");
  paint([]);
}

// Marks places of the text in the mirror that lies under the field.
export function paint(ranges) {
  const value = get("source").value, parts = [];
  let at = 0;
  if (value !== text) ranges = [];
  for (const [begin, end] of ranges) {
    parts.push(value.slice(at, begin), element("mark", {}, value.slice(begin, end)));
    at = end;
  }
  get("mirror").replaceChildren(...(ranges.length ? [...parts, value.slice(at)] : []));
}

export function startWords(action) {
  renew = action;
  document.body.addEventListener("focusin", ({ target }) => { if (!target.closest("#word, #target, #undo")) refocus = null; });
  get("target").addEventListener("keydown", (event) => {
    const all = [...get("target").querySelectorAll(".word")], at = all.indexOf(document.activeElement);
    if (at < 0) return;
    const next = getComputedStyle(get("target")).direction === "rtl" ? "ArrowLeft" : "ArrowRight", last = next === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const to = { [next]: at + 1, ArrowDown: at + 1, [last]: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, to))].focus();
  });
  get("word").addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || composing(event)) return;
    const [looked, first] = [".word.looked", ".word"].map((one) => get("target").querySelector(one));
    const back = pinned?.isConnected ? pinned : looked ?? first;
    pinned = null;
    back?.focus();
  });
  get("undo").addEventListener("click", undo);
}
