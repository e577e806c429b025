const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const words = (text) => text.split(" ").filter(Boolean);

// An element with attributes and children; text is never read as HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function languageOf(text) {
  if (/[\u3040-\u30ff]/u.test(text)) return "ja";
  if (/[\uac00-\ud7af]/u.test(text)) return "ko";
  return /[\u4e00-\u9fff]/u.test(text) ? "zh" : null;
}

function definitions(rows, kind) {
  const list = element("dl", { class: kind });
  for (const [name, ...values] of rows) {
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, ...values)));
  }
  return list;
}

function plain(text) {
  return element("span", { lang: languageOf(text), dir: "auto" }, text);
}
