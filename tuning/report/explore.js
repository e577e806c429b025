"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const STEP = 20;
const all = data.sources.map((_, k) => k);
const words = (text) => text.split(/\s+/u).filter(Boolean);
const lengths = data.sources.map((text) => words(text).length);
const state = { a: 0, b: 0, show: "all", sort: "difference", query: "", set: null, only: null, shown: STEP };

// An element with attributes and children; text is never read as HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const bleu = (system, k) => data.bleu[system][k];
const difference = (k) => bleu(state.b, k) - bleu(state.a, k);
const signed = (tenths) => (tenths > 0 ? "+" : tenths < 0 ? "−" : "") + (Math.abs(tenths) / 10).toFixed(1);

// ---- which sentences, in which order ----

const SHOWN = {
  all: () => true,
  better: (k) => difference(k) > 0,
  worse: (k) => difference(k) < 0,
  other: (k) => data.outputs[state.a][k] !== data.outputs[state.b][k],
  same: (k) => data.outputs[state.a][k] === data.outputs[state.b][k],
};
const ORDERS = {
  difference: (k) => -difference(k),
  loss: (k) => difference(k),
  size: (k) => -Math.abs(difference(k)),
  number: (k) => k,
  length: (k) => lengths[k],
  a: (k) => bleu(state.a, k),
  b: (k) => bleu(state.b, k),
};

function texts(k) {
  return [data.sources[k], ...data.references.map((lines) => lines[k]), data.outputs[state.a][k], data.outputs[state.b][k]];
}

function found() {
  if (state.only !== null) return [state.only];
  const query = words(state.query).join(" ").toLowerCase();
  const fits = (k) => SHOWN[state.show](k)
    && (!query || texts(k).some((text) => words(text).join(" ").toLowerCase().includes(query)));
  const order = ORDERS[state.sort];
  return (state.set ? state.set.sentences : all).filter(fits).sort((k, l) => order(k) - order(l) || k - l);
}

// ---- sentences as HTML ----

function languageOf(text) {
  if (/[\u3040-\u30ff]/u.test(text)) return "ja";
  if (/[\uac00-\ud7af]/u.test(text)) return "ko";
  return /[\u4e00-\u9fff]/u.test(text) ? "zh" : null;
}

function plain(text) {
  return element("span", { lang: languageOf(text), dir: "auto" }, text);
}

function output(system, k) {
  const text = data.outputs[system][k], orders = data.orders[system][k];
  const line = element("span", { lang: languageOf(text), dir: "auto" });
  words(text).forEach((word, n) => line.append(n ? " " : "", element("span", { class: `g${orders[n]}` }, word)));
  if (!text) line.append(element("i", {}, "(empty)"));
  return line;
}

function definitions(rows, kind) {
  const list = element("dl", { class: kind });
  for (const [name, ...values] of rows) {
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, ...values)));
  }
  return list;
}

function translation(system, k) {
  const score = element("span", { class: "score" }, (bleu(system, k) / 10).toFixed(1));
  return [data.systems[system], output(system, k), " ", score];
}

function sentence(k) {
  const gain = difference(k), several = data.references.length > 1;
  const references = data.references.map((lines, n) => [several ? `reference ${n + 1}` : "reference", plain(lines[k])]);
  const link = element("a", { href: `#sentence-${k + 1}` }, `sentence ${k + 1}`);
  const head = element("h3", {}, link, " ", element("b", {}, signed(gain)));
  const item = element("article", { class: `example ${gain > 0 ? "gain" : gain < 0 ? "loss" : ""}`, "data-sentence": k });
  item.append(head, definitions([["source", plain(data.sources[k])], ...references], "text"));
  item.append(definitions([translation(state.a, k), translation(state.b, k)], "text pair"));
  const others = data.systems.map((_, system) => system).filter((system) => system !== state.a && system !== state.b);
  if (others.length) {
    const more = element("details", {}, element("summary", {}, "other systems"));
    more.addEventListener("toggle", () => {
      if (more.children.length === 1) more.append(definitions(others.map((system) => translation(system, k)), "text"));
    });
    item.append(more);
  }
  return item;
}

// ---- the page ----

function show() {
  const sentences = found(), part = sentences.slice(0, state.shown);
  at("list").replaceChildren(...part.map(sentence));
  const better = sentences.filter((k) => difference(k) > 0).length, worse = sentences.filter((k) => difference(k) < 0).length;
  const names = [data.systems[state.b], data.systems[state.a]];
  at("count").textContent = `${sentences.length} of ${all.length} sentences: ${names[0]} is better in ${better}, ${names[1]} in ${worse}.`;
  const limit = state.only !== null ? `sentence ${state.only + 1}` : state.set ? state.set.name : "";
  at("unset").hidden = !limit;
  at("unset").textContent = `only ${limit} ✕`;
  at("unset").setAttribute("aria-label", `only ${limit}: show all again`);
  at("more").hidden = part.length === sentences.length;
  at("more").textContent = `show ${Math.min(STEP, sentences.length - part.length)} more`;
}

function change(what) {
  Object.assign(state, { shown: STEP, only: null }, what);
  for (const name of ["a", "b", "show", "sort"]) at(name).value = state[name];
  show();
}

function follow() {
  const number = /^#sentence-(\d+)$/.exec(location.hash);
  if (!number || !(number[1] - 1 in all)) return;
  change({ only: number[1] - 1 });
  at("explore").scrollIntoView();
}

for (const name of ["a", "b"]) at(name).addEventListener("change", (event) => change({ [name]: Number(event.target.value) }));
for (const name of ["show", "sort"]) at(name).addEventListener("change", (event) => change({ [name]: event.target.value }));
at("search").addEventListener("input", (event) => change({ query: event.target.value }));
at("controls").addEventListener("submit", (event) => event.preventDefault());
at("swap").addEventListener("click", () => change({ a: state.b, b: state.a }));
at("unset").addEventListener("click", () => change({ set: null }));
at("more").addEventListener("click", () => {
  const before = state.shown;
  state.shown += STEP;
  show();
  at("list").children[before].querySelector("a").focus({ preventScroll: true });
});
addEventListener("hashchange", follow);
change({ a: Number(at("a").value), b: Number(at("b").value) });
at("explorer").hidden = false;
follow();
})();
