"use strict";
// Headers of a table become buttons that sort its rows: numbers by size, texts by the alphabet, empty cells last.
for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    if (!headers[column].classList.contains("number")) return text.toLowerCase() || null;
    // Only the first number counts, since an interval may follow.
    const number = text.match(/[+\u2212-]?\d[\d,]*(\.\d+)?/);
    const value = number ? parseFloat(number[0].replaceAll(",", "").replace("\u2212", "-")) : NaN;
    // A text among numbers, such as "absent", is worse than any rank.
    return Number.isNaN(value) ? (/[a-z]/.test(text) ? Infinity : null) : value;
  };
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      const keys = new Map([...table.tBodies[0].rows].map((row) => [row, key(row, column)]));
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...keys.keys()].sort((one, other) => {
        const [a, b] = [keys.get(one), keys.get(other)];
        if (a === null || b === null) return (a === null) - (b === null);
        return a < b ? -sign : a > b ? sign : 0;
      });
      // Rows are added one by one, since a call takes at most some 120,000 arguments.
      const sorted = document.createDocumentFragment();
      for (const row of rows) sorted.append(row);
      table.tBodies[0].append(sorted);
    });
  });
}
