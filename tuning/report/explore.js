// The list of test sentences, and the tables whose rows open their sentences.
const lists = document.querySelectorAll("select[data-state]");
const STEP = 20;
const all = data.sources.map((_, k) => k);
const lengths = data.sources.map((text) => words(text).length);
// `set` is a row of a table: a name, its sentences, and marks in them; `only` is a single sentence.
const state = { a: 0, b: 0, show: "all", sort: "difference", query: "", set: null, only: null, shown: STEP };

const bleu = (system, k) => data.bleu[system][k];
const chosen = () => [...new Set([state.a, state.b])];
const difference = (k) => bleu(state.b, k) - bleu(state.a, k);
const signed = (tenths) => (tenths > 0 ? "+" : tenths < 0 ? "−" : "") + (Math.abs(tenths) / 10).toFixed(1);

// ---- which sentences, in which order ----

const SHOWN = {
  all: () => true,
  better: (k) => difference(k) > 0,
  worse: (k) => difference(k) < 0,
  other: (k) => data.outputs[state.a][k] !== data.outputs[state.b][k],
  same: (k) => data.outputs[state.a][k] === data.outputs[state.b][k],
  trees: (k) => derivations.has(k),
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
    && (!query || texts(k).some((text) => text.toLowerCase().includes(query)));
  const order = ORDERS[state.sort];
  return (state.set ? state.set.sentences : all).filter(fits).sort((k, l) => order(k) - order(l) || k - l);
}

// ---- sentences as HTML ----

// Which words the chosen row of a table is about.
function hits(list) {
  const about = state.set ?? {}, hit = list.map(() => false);
  if (about.frequency) {
    const [least, most] = about.frequency;
    list.forEach((word, n) => { hit[n] = data.training[word] >= least && data.training[word] <= (most ?? Infinity); });
  }
  if (about.gram) {
    const gram = about.gram.split(" ");
    list.forEach((_, n) => {
      if (gram.every((word, k) => list[n + k] === word)) hit.fill(true, n, n + gram.length);
    });
  }
  return hit;
}

function times(word) {
  return Object.hasOwn(data.training, word) ? `${data.training[word]} times in the training text` : null;
}

// Words of the target language, shaded by orders if there are any.
function target(text, orders) {
  const line = element("span", { lang: languageOf(text), dir: "auto" }), list = words(text), hit = hits(list);
  list.forEach((word, n) => {
    const kind = [orders ? `g${orders[n]}` : "", hit[n] ? "hit" : ""].join(" ").trim();
    line.append(n ? " " : "", element("span", { class: kind || null, title: times(word) }, word));
  });
  if (!text) line.append(element("i", {}, "(empty)"));
  return line;
}

const output = (system, k) => target(data.outputs[system][k], data.orders[system][k]);

function translation(system, k) {
  const score = element("span", { class: "score" }, (bleu(system, k) / 10).toFixed(1));
  return [data.systems[system], output(system, k), " ", score];
}

function sentence(k) {
  const gain = difference(k), several = data.references.length > 1;
  const references = data.references.map((lines, n) => [several ? `reference ${n + 1}` : "reference", target(lines[k])]);
  const link = element("a", { href: `#sentence-${k + 1}` }, `sentence ${k + 1}`);
  const head = element("h3", {}, link, " ", element("b", {}, signed(gain)));
  const item = element("article", { class: `example ${gain > 0 ? "gain" : gain < 0 ? "loss" : ""}`, "data-sentence": k });
  item.append(head, definitions([["source", plain(data.sources[k])], ...references], "text"));
  item.append(definitions(chosen().map((system) => translation(system, k)), "text pair"));
  const others = data.systems.map((_, system) => system).filter((system) => system !== state.a && system !== state.b);
  if (others.length) {
    const more = element("details", {}, element("summary", {}, "other systems"));
    more.addEventListener("toggle", () => {
      if (more.children.length === 1) more.append(definitions(others.map((system) => translation(system, k)), "text"));
    });
    item.append(more);
  }
  if (derivations.has(k)) item.append(derivations.details(k, chosen()));
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
  at("more").hidden = part.length === sentences.length;
  at("more").textContent = `show ${Math.min(STEP, sentences.length - part.length)} more`;
}

function change(what) {
  const systems = "a" in what || "b" in what; // others show the same sentence
  Object.assign(state, { shown: STEP }, systems ? {} : { only: null }, what);
  for (const list of lists) list.value = state[list.dataset.state];
  if (at("grams") && systems) at("grams").replaceChildren(grams(state.a, state.b), grams(state.b, state.a));
  show();
}

// ---- tables whose rows open their sentences ----

function opener(name, set) {
  const button = element("button", { type: "button", class: "open" }, name);
  button.addEventListener("click", () => {
    change({ set, query: "", show: "all", sort: "size" });
    at("explore").scrollIntoView();
    at("unset").focus({ preventScroll: true });
  });
  return button;
}

function grams(one, other) {
  const names = [data.systems[one], data.systems[other]];
  const caption = `More frequent in ${names[1]} than in ${names[0]}.`;
  const head = element("tr", {}, element("th", { scope: "col", class: "text" }, "n-gram"));
  head.append(...names.map((name) => element("th", { scope: "col" }, name)));
  const body = element("tbody");
  for (const [gram, a, b, sentences] of data.grams[one][other]) {
    const set = { name: `“${gram}”, more frequent in ${names[1]} than in ${names[0]}`, sentences, gram };
    body.append(element("tr", {}, element("th", { scope: "row" }, opener(gram, set)), element("td", {}, a), element("td", {}, b)));
  }
  const table = element("table", {}, element("thead", {}, head), body);
  const scroll = element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, table);
  return element("div", {}, element("p", { class: "note" }, caption), scroll);
}

function follow() {
  const number = /^#sentence-(\d+)$/.exec(location.hash);
  if (!number || !(number[1] - 1 in all)) return;
  change({ only: number[1] - 1 });
  at("explore").scrollIntoView();
}

for (const list of lists) {
  list.addEventListener("change", () => {
    const name = list.dataset.state;
    change({ [name]: name in { a: 0, b: 0 } ? Number(list.value) : list.value });
  });
}
at("search").addEventListener("input", (event) => change({ query: event.target.value }));
at("controls").addEventListener("submit", (event) => event.preventDefault());
at("swap").addEventListener("click", () => change({ a: state.b, b: state.a }));
at("unset").addEventListener("click", () => {
  history.replaceState(null, "", "#explore"); // so that the link to the sentence works again
  change({ set: null });
});
at("more").addEventListener("click", () => {
  const before = state.shown;
  state.shown += STEP;
  show();
  at("list").children[before].querySelector("a").focus({ preventScroll: true });
});
addEventListener("hashchange", follow);
for (const row of document.querySelectorAll("tr[data-set]")) {
  row.firstChild.replaceChildren(opener(row.firstChild.textContent, data.sets[row.dataset.set]));
}
for (const item of document.querySelectorAll(".scripted")) item.hidden = false;
for (const figure of document.querySelectorAll(".heat figure")) {
  const readout = figure.querySelector(".scripted");
  if (readout) readout.textContent = "Hover over a cell, or tap it.";
  for (const cell of figure.querySelectorAll("rect")) {
    for (const event of ["pointerenter", "click"]) {
      cell.addEventListener(event, () => { readout.textContent = cell.textContent; });
    }
  }
}
change({ a: Number(at("a").value), b: Number(at("b").value) });
at("explorer").hidden = false;
follow();
