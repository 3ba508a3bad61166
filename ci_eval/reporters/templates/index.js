"use strict";
// Sort, search, pages and columns for the table of files. Without this script the table shows every row.
(() => {
  const SIZE = 100;
  const table = document.getElementById("file-table");
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  const text = (row, column) => row.cells[column].textContent.trim();
  const number = (shown) => {
    const value = parseFloat(shown.replaceAll(",", ""));
    return Number.isNaN(value) ? null : value;
  };
  const rows = [...body.rows];
  const names = new Map(rows.map((row) => [row, text(row, 0).toLowerCase()]));
  let found = rows;
  let start = 0;

  const show = () => {
    body.replaceChildren(...found.slice(start, start + SIZE));
    const end = Math.min(start + SIZE, found.length);
    const range = found.length > SIZE ? `${start + 1} to ${end} of ` : "";
    const all = found.length < rows.length ? ` (of ${rows.length.toLocaleString("en")})` : "";
    const noun = found.length === 1 ? "file" : "files";
    document.getElementById("shown").textContent = `${range}${found.length.toLocaleString("en")} ${noun}${all}`;
    document.getElementById("previous").hidden = document.getElementById("next").hidden = found.length <= SIZE;
    document.getElementById("previous").disabled = start === 0;
    document.getElementById("next").disabled = end === found.length;
  };

  const search = () => {
    const wanted = document.getElementById("search").value.trim().toLowerCase();
    found = rows.filter((row) => names.get(row).includes(wanted));
    start = 0;
    show();
  };

  const sort = (column, ascending) => {
    const isText = headers[column].dataset.better === "text";
    const key = (row) => (isText ? names.get(row) : number(text(row, column)));
    const keys = new Map(rows.map((row) => [row, key(row)]));
    const sign = ascending ? 1 : -1;
    rows.sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      // A file without the figure is neither best nor worst.
      if (a === null || b === null) return (a === null) - (b === null);
      return a < b ? -sign : a > b ? sign : 0;
    });
    headers.forEach((header, at) => {
      if (at === column) header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else header.removeAttribute("aria-sort");
    });
    search();
  };

  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    // The first click brings the worst files up.
    const ascendingFirst = ["text", "higher"].includes(header.dataset.better);
    button.addEventListener("click", () => {
      const now = header.getAttribute("aria-sort");
      sort(column, now ? now === "descending" : ascendingFirst);
    });
  });

  const turn = (by) => () => {
    start += by;
    show();
    document.getElementById("files").scrollIntoView({ block: "start" });
  };
  document.getElementById("previous").addEventListener("click", turn(-SIZE));
  document.getElementById("next").addEventListener("click", turn(SIZE));
  document.getElementById("search").addEventListener("input", search);
  document.addEventListener("change", ({ target }) => {
    if (target.type !== "checkbox") return;
    const hidden = new Set(table.dataset.hide.split(" ").filter(Boolean));
    if (target.checked) hidden.delete(target.value);
    else hidden.add(target.value);
    table.dataset.hide = [...hidden].join(" ");
  });
  const menu = document.querySelector(".menu");
  const close = ({ target }) => menu.contains(target) || menu.removeAttribute("open");
  document.addEventListener("click", close);
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") menu.removeAttribute("open");
  });

  document.querySelector(".tools").hidden = false;
  document.querySelector(".pager").hidden = false;
  // A browser that goes back restores the search field and the boxes, not what they did.
  for (const box of document.querySelectorAll(".menu input")) box.checked = box.defaultChecked;
  search();
})();
