// Derivations of translations: each rule a box over its source words, its children below.
const derivations = (() => {
// A rule: [first word, end, source, target, children, category, scores, known]; `known` holds values of the model:
// [marginal of the span, states, marginal, P(e|f), gain, context, other rules], null without a model.
const SPAN = 0, END = 1, SOURCE = 2, TARGET = 3, CHILDREN = 4, CATEGORY = 5, SCORES = 6, KNOWN = 7;
const BESIDE = 42; // most letters of a sentence whose derivations stand side by side
const place = new Map(data.trees.sentences.map((k, n) => [k, n]));
const has = (k) => place.has(k);

// A side with small numbers for nonterminals.
const side = (text) => text.replace(/\[[^[\],]+,([1-9])\]/gu, (_, n) => "①②③④⑤⑥⑦⑧⑨"[n - 1]);
const shown = (value, digits = 3) => value === null ? "–" : value.toFixed(digits).replace("-", "−");
const plus = (value, digits = 2) => value === null ? "–" : (value > 0 ? "+" : "") + shown(value, digits);

// The depth of each rule under the topmost rules that are no glue.
function depths(rules) {
  const depth = rules.map(() => 0);
  rules.forEach((rule, n) => {
    for (const child of rule[CHILDREN]) depth[child] = depth[n] + (rule[CATEGORY] === "X" ? 1 : 0);
  });
  return depth;
}

function facts(system, rule) {
  const rows = [["rule", plain(side(rule[SOURCE])), " → ", plain(side(rule[TARGET]))]];
  const known = rule[KNOWN];
  if (known) {
    const [span, states, marginal, given, gain, context, others] = known;
    const percent = (share) => `${Math.round(100 * share)} %`;
    rows.push(["probability", `span μ ${shown(span)}, rule μ ${shown(marginal)}, P(e|f) ${shown(given)}`]);
    rows.push(["in nats", `states add ${plus(gain)}, context adds ${plus(context)}`]);
    const names = data.trees.states[system];
    const likely = states.filter(([, share]) => share >= 0.005);
    if (likely.length) rows.push(["hidden state", likely.map(([h, share]) => `${h}: ${percent(share)} (${side(names[h])})`).join("; ")]);
    const choices = others.map(([source, target, value]) => `${side(source)} → ${side(target)} μ ${shown(value)}`);
    if (choices.length) rows.push(["other rules", choices.join("; ")]);
  }
  const scores = rule[SCORES].map(([f, value]) => [data.trees.features[f], value]).sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]));
  if (scores.length) rows.push(["scores", scores.map(([name, value]) => `${name} ${plus(value)}`).join(", ")]);
  return definitions(rows, "text about");
}

// The picture of one derivation, and a panel for the facts of the chosen rule.
function picture(system, k) {
  const rules = data.trees.systems[system][place.get(k)];
  const title = element("h4", {}, data.systems[system]);
  if (!rules) return element("div", {}, title, element("p", {}, "No parse."));
  const list = words(data.sources[k]), depth = depths(rules);
  const boxes = rules.map((rule, n) => [rule, n]).filter(([rule]) => rule[CATEGORY] === "X");
  const height = Math.max(0, ...boxes.map(([, n]) => depth[n])) + 1;
  const grid = element("div", { class: "derivation", style: `grid-template-columns: repeat(${list.length}, minmax(2.2rem, auto))` });
  const panel = element("div", { class: "panel", role: "status" }, element("p", { class: "note" }, "Hover over a box, or tap it."));
  for (const [rule, n] of boxes) {
    const [first, end] = [rule[SPAN], rule[END]], bottom = rule[CHILDREN].length ? depth[n] + 1 : height;
    const state = rule[KNOWN]?.[1][0]?.[0];
    const area = `grid-column: ${first + 1} / ${end + 1}; grid-row: ${depth[n] + 1} / ${bottom + 1}`;
    const colour = state === undefined ? "" : `; --box: var(--c${state % 8})`;
    const box = element("button", { type: "button", class: "box", style: area + colour }, side(rule[TARGET]) || "∅");
    if (state !== undefined) box.append(element("span", { class: "state" }, ` s${state}`));
    const point = () => {
      for (const other of grid.querySelectorAll(".chosen")) other.classList.remove("chosen");
      box.classList.add("chosen");
      panel.replaceChildren(facts(system, rule));
    };
    for (const event of ["pointerenter", "focus", "click"]) box.addEventListener(event, point);
    grid.append(box);
  }
  list.forEach((word, n) => {
    const area = `grid-column: ${n + 1}; grid-row: ${height + 1}`;
    grid.append(element("span", { class: "leaf", style: area, lang: languageOf(word), dir: "auto" }, word));
  });
  const scroll = element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `derivation of sentence ${k + 1}, ${data.systems[system]}` }, grid);
  return element("div", {}, title, scroll, panel, ...legend(system));
}

// The hidden states of a system's model, by typical words.
function legend(system) {
  const names = data.trees.states[system];
  if (!names.length) return [];
  const items = names.map((name, h) => element("li", { style: `--box: var(--c${h % 8})` }, element("b", {}, `s${h}`), ` ${side(name)}`));
  return [element("details", {}, element("summary", {}, "hidden states by typical words"), element("ul", { class: "states" }, ...items))];
}

function details(k, systems) {
  const shown = element("details", { class: "derivations" }, element("summary", {}, "derivations"));
  shown.addEventListener("toggle", () => {
    if (shown.children.length > 1) return;
    const kind = data.sources[k].length > BESIDE ? "trees" : "trees beside";
    shown.append(element("div", { class: kind }, ...systems.map((system) => picture(system, k))));
  });
  return shown;
}

return { has, details };
})();
