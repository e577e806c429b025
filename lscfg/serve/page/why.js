// Why the system does not choose the translation in the field of corrections.

import { element, failure, get, keyed, speak, state } from "./base.js";
import { REASONS } from "./words.js";

const named = (feature) => REASONS.find(([pattern]) => pattern.test(feature))?.[1];
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
const score = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(2);

let asked = 0; // number of the latest question, whose answer alone is shown

export async function explain(source, wanted) {
  const box = get("why-result"), own = asked += 1;
  const show = (...parts) => { if (own === asked) box.replaceChildren(...parts); };
  box.hidden = false;
  box.setAttribute("aria-busy", "true");
  try {
    const response = await fetch("/whynot", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(keyed({ source, wanted })),
    });
    show(...(response.ok ? described(await response.json()) : [element("p", {}, await failure(response))]));
  } catch (error) {
    show(element("p", {}, `The service does not answer: ${error.message}`));
  } finally {
    if (own === asked) box.removeAttribute("aria-busy");
  }
}

function described(found) {
  const parts = [element("p", {}, verdict(found))];
  if (found.verdict !== "same") parts.push(element("p", {}, "The system’s translation: ", side(found.chosen, "target")));
  if (found.first) {
    const [wanted, chosen] = found.first;
    parts.push(element("p", {}, "First different rule: ", side(wanted.source, "source"), " as ", side(wanted.target, "target"), ", not ",
      side(chosen.source, "source"), " as ", side(chosen.target, "target"), "."));
  }
  const features = Object.entries(found.features).slice(0, 5).map(([feature, difference]) =>
    element("li", {}, `${signed(difference)} ${feature}${named(feature) ? `: ${named(feature)}` : ""}`));
  if (features.length) parts.push(element("p", {}, "Features that decide (negative: against your translation):"), element("ul", {}, ...features));
  const missing = found.missing.map((rule) => element("li", {}, side(rule.source, "source"), " as ", side(rule.target, "target"), `: ${rule.reason}`));
  if (missing.length) parts.push(element("p", {}, "Missing rules:"), element("ul", {}, ...missing), element("p", {}, "Keep correction to add them."));
  return parts;
}

function verdict({ verdict: found, wanted_score: wanted, chosen_score: chosen }) {
  if (found === "same") return "This is the system’s own translation.";
  if (found === "model") return `The system can produce this, but scores it ${score(wanted)}; its own translation scores ${score(chosen)}.`;
  if (found === "search") return `The system scores this ${score(wanted)}, higher than its own translation (${score(chosen)}), but the search missed it.`;
  return "The system cannot produce this: it lacks rules.";
}

function side(text, name) {
  const made = element("bdi", { className: "term" }, text);
  speak(made, state.system?.[name]);
  return made;
}
