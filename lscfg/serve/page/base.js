// Helpers of all parts of the page: elements, messages, and the browser's storage. Elements and text only, never HTML in
// strings.

export const get = (id) => document.getElementById(id);
export const fault = (text) => { get("fault").textContent = text; };
export const status = (text) => { if (get("status").textContent !== text) get("status").textContent = text; };
export const state = { system: null };

export const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

// ---- requests ----

export function keyed(content) {
  const key = get("key").value.trim();
  return key ? { ...content, api_key: key } : content;
}

// The reason of a refusal, which names entries of the glossary that was sent by their texts.
export async function failure(response, terms = []) {
  if (response.status === 403) get("key-part").hidden = false;
  let message = `${response.status} ${response.statusText}`;
  try {
    const { error } = await response.json();
    if (typeof error === "string") message = error;
  } catch { /* a proxy answers otherwise */ }
  return message.replace(/^glossary\[(\d+)\](\.\w+)?/, (whole, k) => (terms[k] ? `Glossary, “${terms[k].source}”` : whole));
}

// ---- elements ----

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function button(text, action, properties = {}) {
  const made = element("button", { type: "button", textContent: text, ...properties });
  made.addEventListener("click", action);
  return made;
}

// A key of an input method, such as the Enter that ends the choice of a character.
export const composing = (event) => event.isComposing || event.keyCode === 229;

export function speak(node, language) {
  if (!language) return;
  node.lang = language.code;
  node.dir = language.direction;
}

export function stored(key, otherwise) {
  try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch { return otherwise; }
}

export function keep(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); return true; } catch {
    fault(UNSTORED);
    return false;
  }
}

export const UNSTORED = "The browser stored nothing: it does not allow it, or its storage is full.";

// What the browser keeps is for two languages, whatever system translates them; for one system if these have no names.
export const storeName = (kind) => {
  const { source, target, system = "" } = state.system ?? {}, pair = `lscfg.${kind}.${source?.code ?? ""}.${target?.code ?? ""}`;
  return source && target ? pair : `${pair}.${system}`;
};

// Takes over what earlier versions of the page kept for each system; rows of this system replace others.
export function adopt() {
  const { source, target, system } = state.system;
  for (const kind of source && target ? ["glossary", "corrections", "numbers"] : []) {
    try {
      const name = storeName(kind), old = Object.keys(localStorage).filter((key) => key.startsWith(`${name}.`));
      const rows = [...old, `${name}.${system}`].flatMap((key) => stored(key, []));
      if (rows.length && localStorage.getItem(name) === null) keep(name, [...new Map(rows)]);
    } catch { /* the browser allows no storage */ }
  }
}

// The letters and digits of a text without case and marks: whatever a system's preparation makes of two texts, those that it
// makes equal are equal here, too.
export const bare = (text) => text.normalize("NFKD").toLowerCase().toUpperCase().normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "");

// ---- TSV ----

// Cells of corrections, which may have several lines; cells of a glossary stay as lscfg reads them.
export const escaped = (text) => text.replace(/\\/g, "\\\\").replace(/\t/g, "\\t").replace(/\n/g, "\\n").replace(/\r/g, "").replace(/^#/, "\\#");
export const unescaped = (text) => text.replace(/\\([\\tn#])/g, (_, sign) => ({ t: "\t", n: "\n" })[sign] ?? sign);
const same = (text) => text;

// Spreadsheets put cells with quotes or line breaks into quotes, which lscfg leaves out, too.
const QUOTED = /^"(?:[^"]|"")+"$/;
const quoted = (cell) => (QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const unquoted = (cell) => (QUOTED.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell);

export function saveTable(rows, name, written = same) {
  const lines = rows.map((row) => `${row.map((cell) => quoted(written(cell))).join("\t")}\n`);
  const blob = new Blob(lines, { type: "text/tab-separated-values" });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The rows of a file with their line numbers, without comments and empty lines. The first row names the columns, whose cells
// are returned in the order of `columns`. Shows a fault and returns null for a file that is no such table.
export async function readTable(file, columns, read = same) {
  const text = (await file.text()).replace(/^\ufeff/, "");
  const wrong = (reason) => { fault(`${file.name}${reason}`); return null; };
  if (/[\0\ufffd]/.test(text)) return wrong(": is not UTF-8 text; save it as UTF-8");
  const rows = text.split(/\r?\n/).map((line, k) => ({ line: k + 1, written: line.split("\t").map((one) => one.trim()), text: line }))
    .filter((row) => row.text.trim() && !row.text.startsWith("#"))
    .map((row) => ({ ...row, cells: row.written.map((one) => read(unquoted(one)).trim()) }));
  if (!rows.length) return wrong(": contains no rows");
  const head = rows[0].cells.map((one) => one.toLowerCase()), names = columns.join(", ");
  if (!head.includes("source")) return wrong(`:${rows[0].line}: the first row must name the columns, with tabs between: ${names}`);
  const other = head.find((one) => one && !columns.includes(one));
  if (other) return wrong(`:${rows[0].line}: no column ${other} here; columns are ${names}`);
  const order = columns.map((one) => head.indexOf(one));
  const wide = rows.find(({ cells }) => cells.slice(head.length).some(Boolean));
  if (wide) return wrong(`:${wide.line}: more columns than the first row names; remove a tab`);
  return rows.slice(1).map(({ line, cells, written }) => ({
    line, cells: order.map((k) => cells[k] ?? ""), quoted: order.some((k) => QUOTED.test(written[k])),
  }));
}

// Names the lines whose cells were read without a spreadsheet's quotes.
export function unquotedNote(file, rows) {
  const lines = rows.filter((row) => row.quoted).map(({ line }) => line), more = lines.length - 5;
  const named = `${lines.slice(0, 5).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return lines.length ? `${file.name}: read without the quotes of a spreadsheet: line${lines.length === 1 ? "" : "s"} ${named}` : "";
}

// ---- places in text: the service counts characters, this language counts UTF-16 units ----

export function units(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (k) => k;
  const starts = [0];
  for (const character of text) starts.push(starts.at(-1) + character.length);
  return (k) => starts[Math.min(k, starts.length - 1)];
}
