// Tables as Markdown, LaTeX and CSV, for the clipboard.
const isBold = (cell) => cell.matches(".best") || cell.querySelector("td > b") !== null;

// Rows of a table without columns of bars; a cell has its text, and true where it is bold.
function cellsOf(table) {
  return [...table.rows].map((row, line) => [...row.cells]
    .filter((cell) => !cell.matches(".bar") && !(line === 0 && barred(table, cell.cellIndex)))
    .map((cell) => [words(cell.textContent.replace(/\s+/gu, " ")).join(" "), line > 0 && isBold(cell)]));
}

function barred(table, column) {
  return table.rows.length > 1 && table.rows[1].cells[column]?.matches(".bar") === true;
}

const TEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "±": "$\\pm$",
  "−": "$-$", "≤": "$\\leq$", "→": "$\\to$" };
const tex = (text) => text.replace(/[\\{}~^&%#_$–±−≤→]/gu, (sign) => TEX[sign] ?? `\\${sign}`);
const FORMATS = {
  Markdown(rows) {
    const line = (cells) => `| ${cells.join(" | ")} |`;
    const shown = rows.map((row) => line(row.map(([text, bold]) => {
      const safe = text.replace(/[\\|*_`<]/gu, "\\$&");
      return bold ? `**${safe}**` : safe;
    })));
    const rule = line(rows[0].map((_, k) => (k ? "---:" : "---")));
    return [shown[0], rule, ...shown.slice(1)].join("\n") + "\n";
  },
  LaTeX(rows) {
    const shown = rows.map((row) => row.map(([text, bold]) => (bold ? `\\textbf{${tex(text)}}` : tex(text))).join(" & ") + " \\\\");
    const columns = "l" + "r".repeat(rows[0].length - 1);
    return [`\\begin{tabular}{${columns}}`, "\\hline", shown[0], "\\hline", ...shown.slice(1), "\\hline", "\\end{tabular}"]
      .join("\n") + "\n";
  },
  CSV(rows) {
    const quoted = (text) => (/[",\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return rows.map((row) => row.map(([text]) => quoted(text)).join(",")).join("\r\n") + "\r\n";
  },
};

// Browsers refuse the clipboard to pages without TLS; copying a selection works there, too.
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

for (const place of document.querySelectorAll("main .scroll:not(#grams *)")) {
  const done = element("span", { role: "status" });
  const buttons = Object.entries(FORMATS).map(([name, format]) => {
    const button = element("button", { type: "button" }, name);
    button.addEventListener("click", async () => {
      await toClipboard(format(cellsOf(place.querySelector("table"))));
      done.textContent = ` ${name} copied`;
    });
    return button;
  });
  place.after(element("p", { class: "copy" }, "copy as ", ...buttons.flatMap((one, k) => (k ? [" ", one] : [one])), done));
}
