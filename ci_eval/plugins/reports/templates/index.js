"use strict";
// Sort, search, pages and columns for the table of files. Sorted by name, it is a tree of folders; sorted by a
// figure, or searched, it is a list of files. Without this script, the table shows every row.
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
  const everything = [...body.rows];
  const isFolder = (row) => row.classList.contains("folder");
  const paths = new Map(everything.map((row) => [row, text(row, 0)]));
  const names = new Map(everything.map((row) => [row, text(row, 0).toLowerCase()]));
  const rows = everything.filter((row) => !isFolder(row));
  let found = rows;
  let isTree = true;
  let start = 0;

  // -------------------------------------------------------------------------------------------------------- folders

  const folders = new Map(everything.filter(isFolder).map((row) => [paths.get(row), row]));
  // The nearest folder that has a row; "" = none.
  const parentOf = (path) => {
    for (let at = path.lastIndexOf("/", path.length - 2); at >= 0; at = path.lastIndexOf("/", at - 1)) {
      if (folders.has(path.slice(0, at + 1))) return path.slice(0, at + 1);
      if (at === 0) break;
    }
    return "";
  };
  const parents = new Map(everything.map((row) => [row, parentOf(paths.get(row))]));
  const children = new Map();
  for (const row of everything) children.set(parents.get(row), [...(children.get(parents.get(row)) ?? []), row]);
  const open = new Set(everything.length <= SIZE ? folders.keys() : []);
  for (const [path, row] of folders) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...row.cells[0].childNodes);
    row.cells[0].append(button);
    button.addEventListener("click", () => {
      if (!open.delete(path)) open.add(path);
      show();
      button.focus();
    });
  }
  const below = (folder, depth) => (children.get(folder) ?? []).flatMap((row) => {
    row.dataset.depth = String(Math.min(depth, 4));
    if (!isFolder(row)) return [row];
    const isOpen = open.has(paths.get(row));
    row.querySelector("button").setAttribute("aria-expanded", String(isOpen));
    return isOpen ? [row, ...below(paths.get(row), depth + 1)] : [row];
  });
  const flat = () => {
    for (const row of found) delete row.dataset.depth;
    return found;
  };

  const show = () => {
    const listed = isTree ? below("", 0) : flat();
    start = Math.min(start, SIZE * Math.floor(Math.max(0, listed.length - 1) / SIZE));
    body.replaceChildren(...listed.slice(start, start + SIZE));
    const end = Math.min(start + SIZE, listed.length);
    const range = listed.length > SIZE ? (isTree ? `rows ${start + 1} to ${end} of ${listed.length.toLocaleString("en")}: ` : `${start + 1} to ${end} of `) : "";
    const all = found.length < rows.length ? ` (of ${rows.length.toLocaleString("en")})` : "";
    const noun = found.length === 1 ? "file" : "files";
    document.getElementById("shown").textContent = `${range}${found.length.toLocaleString("en")} ${noun}${all}`;
    document.getElementById("previous").hidden = document.getElementById("next").hidden = listed.length <= SIZE;
    document.getElementById("previous").disabled = start === 0;
    document.getElementById("next").disabled = end === listed.length;
  };

  const search = () => {
    const wanted = document.getElementById("search").value.trim().toLowerCase();
    found = rows.filter((row) => names.get(row).includes(wanted));
    isTree = folders.size > 0 && !wanted && headers[0].getAttribute("aria-sort") === "ascending";
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
    // The first click brings the worst files to the top.
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
  // A browser that goes back restores the search field and the boxes, but not their effect.
  for (const box of document.querySelectorAll(".menu input")) box.checked = box.defaultChecked;
  search();
})();
