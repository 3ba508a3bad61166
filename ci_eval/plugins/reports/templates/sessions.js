"use strict";
// Show all sessions in one list, with filters, search and groups. Only the rows in sight are elements of the page.
// The choice is in the address after #, so that other pages can link to it. All content is set as text, not as markup.
ciEval.table = async (text) => {
  const data = await ciEval.unpacked(text);
  // The height of a row in pixels, as in the style sheet.
  const narrow = matchMedia("(max-width: 760px)");
  let height = narrow.matches ? 72 : 50;
  const { columns, files, texts, lines, kinds, statuses, bands, changes, sides, went } = data;
  const paired = sides.length > 1;
  const ids = data.ids ? data.ids.split(" ") : [];
  const size = ids.length;
  const last = went[went.length - 1];
  const byId = (id) => document.getElementById(id);
  const [rows, space, search, group, filters, chosen] = ["rows", "space", "search", "group", "filters", "chosen"].map(byId);
  const number = (value) => value.toLocaleString("en");
  const words = (name) => name.toLowerCase().replaceAll("_", " ");
  const make = (tag, values = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(values)) if (value !== null) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // -------------------------------------------------------------------------------------------------------- facets

  const bandNames = [...bands.map(([name]) => name), "not asked"];
  const bandLabels = [...bands.map(([, label]) => label), "not asked"];
  // A session that was not asked has no band, and gets the last value.
  const bandsOf = (side) => side.band.map((each) => (each < 0 ? bands.length : each));
  const lengths = [...new Set(columns.typed)].sort((a, b) => a - b);
  const lengthNumbers = new Map(lengths.map((each, at) => [each, at]));
  const facet = (key, title, names, labels, of) =>
    ({ key, title, names: names.map(String), labels, of: Uint16Array.from(of), wanted: new Set(), counts: null });
  const facets = [
    ...(paired ? [facet("change", "New against base", changes, ["▲ better", "▼ worse", "alike", "on one side only"], columns.change)] : []),
    ...went.map((side, at) => facet(sides[at] || "band", sides[at] || "Result", bandNames, bandLabels, bandsOf(side))),
    facet("typed", "Letters typed", lengths, lengths.map(String), columns.typed.map((each) => lengthNumbers.get(each))),
    facet("kind", "Kind", kinds, kinds.map(words), columns.kind),
    ...went.map((side, at) => facet(paired ? `${sides[at]}Status` : "status", paired ? `Status in ${sides[at]}` : "Status", statuses, statuses, side.status)),
  ];
  // Filters for one value, to which rows and groups link: all sessions of a text or of a file.
  const exact = {
    filter: { title: "sessions of", value: null, names: data.filters.map(([name]) => name), labels: data.filters.map(([, label]) => label), has: (row, value) => data.combinations[columns.filters[row]].includes(value) },
    text: { title: "expected", value: null, of: columns.expected, names: texts },
    first: { title: "first was", value: null, of: last.first, names: texts },
    file: { title: "file", value: null, of: columns.file, names: files.map(([path]) => path) },
  };
  const WORST = "worst";
  const SLOWEST = "slowest";
  const groupings = {
    "": ["every session"],
    [WORST]: ["the worst first"],
    ...(last.latency.some((time) => time >= 0) ? { [SLOWEST]: ["the slowest first"] } : {}),
    text: ["by expected text", columns.expected, texts],
    first: ["by the first suggestion", last.first, texts],
    kind: ["by kind", columns.kind, kinds],
    file: ["by file", columns.file, exact.file.names],
  };

  // The parts of a row besides its code and result. Each has a name for the address, a label, and whether it is shown by
  // default.
  const parts = {
    typed: ["what was typed", true],
    first: ["first suggestion", true],
    place: ["file and line", true],
    kind: ["kind", true],
    latency: ["latency of the slowest lookup", true],
    status: ["status", false],
    id: ["session id", false],
  };
  const usual = Object.keys(parts).filter((name) => parts[name][1]);
  let shown = new Set(usual);
  const asUsual = () => shown.size === usual.length && usual.every((name) => shown.has(name));

  // ------------------------------------------------------------------------------------------------------- choosing

  let found = [];
  let groups = null;
  let active = 0;
  let small = null;

  const lower = () => {
    small ??= { texts: texts.map((each) => each.toLowerCase()), lines: lines.map((each) => each.toLowerCase()), files: files.map(([path]) => path.toLowerCase()) };
  };
  const matches = (query) => {
    lower();
    const having = (of) => Uint8Array.from(of, (each) => each.includes(query));
    const [inText, inLine, inFile] = [having(small.texts), having(small.lines), having(small.files)];
    const isId = /^[0-9a-f]{4,}$/.test(query);
    // A place is written as on other pages and by compilers: path:line.
    const [, path, line] = /^(.*[^:]):(\d+)$/.exec(query) ?? [];
    const inPath = path ? Uint8Array.from(small.files, (each) => each.includes(path)) : null;
    return (row) => (inPath && inPath[columns.file[row]] && columns.line[row] === Number(line)) || inText[columns.expected[row]] || inLine[columns.code[row]] || inFile[columns.file[row]]
      || went.some((side) => inText[side.first[row]]) || (isId && ids[row].startsWith(query));
  };

  const choose = () => {
    const query = search.value.trim();
    const conditions = ciEval.conditions(query);
    const matching = conditions ? ciEval.passing(conditions, data) : query ? matches(query.toLowerCase()) : null;
    const fixed = Object.values(exact).filter((each) => each.value !== null);
    const allowed = facets.map((each) => Uint8Array.from(each.names, (name) => !each.wanted.size || each.wanted.has(name)));
    const counts = facets.map((each) => new Uint32Array(each.names.length));
    const result = [];
    for (let row = 0; row < size; row += 1) {
      if (fixed.some((each) => (each.has ? !each.has(row, each.value) : each.of[row] !== each.value)) || (matching && !matching(row))) continue;
      let misses = 0;
      let missed = -1;
      for (let at = 0; at < facets.length && misses < 2; at += 1) {
        if (!allowed[at][facets[at].of[row]]) { misses += 1; missed = at; }
      }
      // The count of a value is the number of rows that have the value and pass all other facets.
      if (misses === 0) {
        result.push(row);
        for (let at = 0; at < facets.length; at += 1) counts[at][facets[at].of[row]] += 1;
      } else if (misses === 1) counts[missed][facets[missed].of[row]] += 1;
    }
    found = group.value === WORST ? byMost(result, badness) : group.value === SLOWEST ? byMost(result, (row) => last.latency[row]) : result;
    facets.forEach((each, at) => { each.counts = counts[at]; });
    groups = groupings[group.value][1] ? grouped(...groupings[group.value].slice(1)) : null;
    active = 0;
    rows.scrollTop = 0;
    describe();
    draw();
  };

  // In a session that was not asked, nothing went wrong.
  const badness = (row) => (last.band[row] < 0 ? -1 : data.played ? 100 - last.score[row] : last.rank[row] || Infinity);
  const byMost = (of, amount) => {
    const keys = new Map(of.map((row) => [row, amount(row)]));
    return of.sort((one, other) => (keys.get(other) === keys.get(one) ? one - other : keys.get(other) - keys.get(one)));
  };

  const grouped = (of, names) => {
    const members = new Map();
    for (const row of found) {
      const one = members.get(of[row]);
      if (one) one.push(row);
      else members.set(of[row], [row]);
    }
    return [...members].sort(([, a], [, b]) => b.length - a.length).map(([value, own]) => ({ value, name: value < 0 ? "nothing" : names[value], own }));
  };

  // ------------------------------------------------------------------------------------------------------- address

  const state = () => {
    const now = new URLSearchParams();
    for (const each of facets) if (each.wanted.size) now.set(each.key, [...each.wanted].join(","));
    for (const [key, each] of Object.entries(exact)) if (each.value !== null) now.set(key, each.names[each.value] ?? "");
    if (search.value.trim()) now.set("q", search.value.trim());
    if (group.value) now.set("group", group.value);
    if (!asUsual()) now.set("columns", [...shown].join(","));
    return now;
  };
  const isChosen = () => [...state().keys()].some((key) => key !== "group" && key !== "columns");
  const keep = () => history.replaceState(null, "", `#${state()}`);
  const changed = () => { keep(); choose(); };
  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const each of facets) each.wanted = new Set((given.get(each.key) ?? "").split(",").filter((name) => each.names.includes(name)));
    for (const [key, each] of Object.entries(exact)) {
      const at = given.has(key) ? each.names.indexOf(given.get(key)) : null;
      each.value = at;
    }
    search.value = given.get("q") ?? "";
    group.value = Object.hasOwn(groupings, given.get("group") ?? "") ? given.get("group") ?? "" : "";
    shown = new Set(given.has("columns") ? given.get("columns").split(",").filter((name) => Object.hasOwn(parts, name)) : usual);
    choose();
  };

  // ---------------------------------------------------------------------------------------------------------- words

  const buttons = facets.map((each) => each.names.map((name, at) => {
    const count = make("span");
    const button = make("button", { type: "button" }, each.labels[at], count);
    button.addEventListener("click", () => {
      if (!each.wanted.delete(name)) each.wanted.add(name);
      changed();
    });
    return { button, count };
  }));
  filters.append(...facets.map((each, at) =>
    make("fieldset", {}, make("legend", {}, each.title), ...buttons[at].map(({ button }) => button))));
  group.append(...Object.entries(groupings).map(([value, [label]]) => make("option", { value }, label)));

  const boxes = Object.entries(parts).map(([value, [label]]) => {
    const box = make("input", { type: "checkbox", value });
    box.addEventListener("change", () => {
      if (!shown.delete(value)) shown.add(value);
      keep();
      draw();
    });
    byId("columns").append(make("label", {}, box, ` ${label}`));
    return box;
  });

  const compute = () => {
    const asked = found.filter((row) => went.every((side) => side.band[row] >= 0));
    const values = (numbers, unit) => numbers.map((value) => make("data", { value }, ciEval.amount(value, unit)));
    const sample = data.strata.length > 1 ? ciEval.sample(asked, data.strata, columns.stratum) : ciEval.simple(1);
    let isExact = paired;
    const texts = data.metrics.map((metric, at) => {
      const own = went.map((side) => side.observed[at]);
      const rows = paired && metric.both ? asked.filter((row) => own.every((column) => data.observed[column[row]].length)) : asked;
      const sums = own.map((column) => ciEval.sums(rows, column, data.observed, sample));
      const figures = values(sums.map((side) => ciEval.ratio(side, metric.without)), metric.unit);
      if (paired) {
        const exact = ciEval.exact(rows, own, sums, data, metric);
        isExact &&= exact !== null;
        const judged = exact ? [" ", make("data", { value: exact.difference }, ciEval.change(exact.difference, metric.unit)), ` ${exact.verdict}`] : [];
        return make("span", {}, `${metric.name} `, figures[0], " → ", figures[1], ...judged);
      }
      const ends = [ciEval.interval(sums[0], data, metric), ciEval.elsewhere(rows, own[0], data, columns.file, metric, sample)];
      const intervals = ends.flatMap((pair, which) => {
        if (!pair) return [];
        const [low, high] = values(pair, metric.unit);
        const before = which && ends[0] ? "; " : " (", behind = which ? " in other code)" : ends[1] ? "" : ")";
        return [before, make("span", { class: which ? "elsewhere" : "here" }, low, "–", high), behind];
      });
      return make("span", {}, `${metric.name} `, ...figures, ...intervals);
    });
    // If the page lacks sessions, figures of the sessions in the list would mean nothing.
    byId("figures").replaceChildren(...(asked.length && !data.leftOut ? texts : []));
    const query = search.value.trim();
    const expression = ciEval.conditions(query) ? `"${query.replace(/(["\\$`])/g, "\\$1")}"` : "EXPR";
    const lacking = data.leftOut || !data.metrics.length ? "Figures" : paired ? (isExact ? "Times and other code" : "Intervals and verdicts") : data.asked === null ? "Times and intervals for this project" : "Times";
    byId("more").replaceChildren(...(data.command && isChosen() ? [`${lacking}: `, make("code", {}, data.command.replace("EXPR", () => expression))] : []));
  };

  const describe = () => {
    for (const box of boxes) box.checked = shown.has(box.value);
    const all = found.length < size ? ` of ${number(size)}` : "";
    byId("count").textContent = `${number(found.length)}${all}${groups ? ` in ${number(groups.length)} groups` : ""}`;
    byId("clear").disabled = !isChosen();
    compute();
    facets.forEach((each, at) => each.names.forEach((name, value) => {
      const { button, count } = buttons[at][value];
      count.textContent = number(each.counts[value]);
      button.setAttribute("aria-pressed", String(each.wanted.has(name)));
      button.hidden = !each.counts[value] && !each.wanted.has(name);
    }));
    chosen.replaceChildren(...Object.values(exact).filter((each) => each.value !== null).map((each) => {
      const button = make("button", { type: "button" }, `${each.title} ${(each.labels ?? each.names)[each.value] ?? "nothing"} ×`);
      button.addEventListener("click", () => { each.value = null; changed(); });
      return button;
    }));
    chosen.hidden = !chosen.childElementCount;
  };

  const chip = (side, row) => {
    const band = side.band[row];
    const status = statuses[side.status[row]];
    const failed = ["context-too-long", "timeout", "engine-crash", "error"].includes(status);
    const outcome = failed ? "failed" : band < 0 ? "skipped" : bands[band][2];
    const text = failed || band < 0 ? status : data.played ? `${side.score[row]}%` : side.rank[row] ? `${paired ? "" : "rank "}${number(side.rank[row])}` : bands[band][1];
    return make("span", { class: `t ${outcome}` }, text);
  };
  const duration = (tenths) => {
    if (tenths < 0) return "–";
    return tenths < 100 ? `${(tenths / 10).toFixed(1)} ms` : tenths < 100000 ? `${number(Math.round(tenths / 10))} ms` : `${(tenths / 10000).toFixed(1)} s`;
  };
  const movement = (row) => {
    const change = changes[columns.change[row]];
    const sign = { better: "▲", worse: "▼" }[change];
    return sign ? [make("span", { class: change }, ` ${sign}`)] : [];
  };
  const instead = (side, at, row) => {
    const first = side.first[row];
    if (first < 0) return [];
    const name = paired ? `first in ${sides[at]} ` : "first was ";
    return first === columns.expected[row] ? [] : [" · ", name, make("code", {}, texts[first])];
  };

  const sessionRow = (row) => {
    const [path, links] = files[columns.file[row]];
    const expected = texts[columns.expected[row]];
    const prefix = texts[columns.prefix[row]];
    const line = [...lines[columns.code[row]]];
    const at = columns.at[row];
    const end = at + [...expected].length;
    const link = links[columns.page[row]];
    const chips = went.flatMap((side, each) => [...(each ? [" → "] : []), chip(side, row)]);
    const about = [
      ...(shown.has("typed") ? [prefix ? ` after “${prefix}”` : " with nothing typed"] : []),
      ...(shown.has("first") ? went.flatMap((side, each) => instead(side, each, row)) : []),
      ...(shown.has("place") ? [` · ${path}:${columns.line[row]}`] : []),
      ...(shown.has("kind") ? [` · ${words(kinds[columns.kind[row]])}`] : []),
      ...(shown.has("status") ? [` · ${went.map((side) => statuses[side.status[row]]).join(" → ")}`] : []),
      ...(shown.has("id") ? [" · ", make("code", {}, ids[row])] : []),
    ];
    return make(link ? "a" : "div", { class: "row", href: link ? `${link}#${encodeURIComponent(ids[row])}` : null },
      make("span", { class: "went" }, ...chips, ...(paired ? movement(row) : [])),
      make("span", { class: "code" }, line.slice(0, at).join(""), make("mark", {}, line.slice(at, end).join("")), line.slice(end).join("")),
      make("span", { class: "about" }, make("code", {}, expected), ...about),
      make("span", { class: "latency" }, shown.has("latency") ? went.map((side) => duration(side.latency[row])).join(" → ") : ""));
  };

  const groupRow = ({ name, value, own }) => {
    const of = paired ? facets[0] : facets.find((each) => each.key === "band");
    const counts = new Uint32Array(of.names.length);
    for (const row of own) counts[of.of[row]] += 1;
    const results = [...counts].map((count, at) => [count, of.labels[at]]).filter(([count]) => count);
    const aim = state();
    aim.delete("group");
    aim.set(group.value, group.value === "kind" ? kinds[value] : value < 0 ? "" : groupings[group.value][2][value]);
    return make("a", { class: "row", href: `#${aim}` },
      make("span", { class: "went" }, `${number(own.length)} ×`),
      make("span", { class: "code" }, group.value === "kind" ? words(name) : name),
      make("span", { class: "about" }, results.map(([count, label]) => `${label}: ${number(count)}`).join(" · ")));
  };

  // ----------------------------------------------------------------------------------------------------------- list

  const length = () => (groups ?? found).length;
  const draw = () => {
    const total = length();
    space.style.height = `${total * height}px`;
    const begin = Math.max(0, Math.floor(rows.scrollTop / height) - 4);
    const end = Math.min(total, Math.ceil((rows.scrollTop + rows.clientHeight) / height) + 4);
    const nodes = [];
    for (let at = begin; at < end; at += 1) {
      const node = groups ? groupRow(groups[at]) : sessionRow(found[at]);
      node.style.top = `${at * height}px`;
      node.id = `row-${at}`;
      node.tabIndex = -1;
      node.classList.toggle("active", at === active);
      for (const [name, value] of [["role", "option"], ["aria-selected", at === active], ["aria-posinset", at + 1], ["aria-setsize", total]]) node.setAttribute(name, String(value));
      nodes.push(node);
    }
    space.replaceChildren(...(total ? nodes : [make("p", { class: "nothing" }, "No session passes these filters. Remove some of them.")]));
    // A list box must have options, so an empty list is plain text.
    if (total) {
      rows.setAttribute("role", "listbox");
      rows.setAttribute("aria-label", groups ? "Groups of sessions" : "Sessions");
      rows.setAttribute("aria-activedescendant", `row-${active}`);
    } else for (const name of ["role", "aria-label", "aria-activedescendant"]) rows.removeAttribute(name);
  };

  const go = (to) => {
    active = Math.max(0, Math.min(length() - 1, to));
    const top = active * height;
    if (top < rows.scrollTop) rows.scrollTop = top;
    else if (top + height > rows.scrollTop + rows.clientHeight) rows.scrollTop = top + height - rows.clientHeight;
    rows.focus({ preventScroll: true });
    draw();
  };
  const page = () => Math.max(1, Math.floor(rows.clientHeight / height) - 1);
  const KEYS = {
    ArrowDown: () => go(active + 1), ArrowUp: () => go(active - 1), j: () => go(active + 1), k: () => go(active - 1),
    PageDown: () => go(active + page()), PageUp: () => go(active - page()), Home: () => go(0), End: () => go(length() - 1),
    Enter: () => byId(`row-${active}`)?.click(),
    "/": () => search.focus(),
    Escape: () => byId("clear").click(),
  };
  const menu = document.querySelector(".menu");
  document.addEventListener("click", ({ target }) => menu.contains(target) || menu.removeAttribute("open"));
  const ANYWHERE = ["/", "j", "k", "Escape"];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
      return;
    }
    if (event.target === search) {
      if (event.key === "Escape" || event.key === "ArrowDown") { event.preventDefault(); go(active); }
      return;
    }
    const isList = event.target === rows || event.target === document.body;
    if (event.target.matches("select") || !(isList || ANYWHERE.includes(event.key)) || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  let waiting = false;
  rows.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  });
  addEventListener("resize", () => {
    height = narrow.matches ? 72 : 50;
    draw();
  });
  addEventListener("hashchange", read);
  search.addEventListener("input", changed);
  group.addEventListener("change", changed);
  byId("clear").addEventListener("click", () => {
    for (const each of facets) each.wanted.clear();
    for (const each of Object.values(exact)) each.value = null;
    search.value = "";
    changed();
  });
  byId("show-filters").addEventListener("click", () => {
    const open = filters.classList.toggle("open");
    byId("show-filters").setAttribute("aria-expanded", String(open));
    draw();
  });
  document.body.classList.toggle("paired", paired);
  read();
  // Prepare the search before the first letter is typed, if there is time.
  setTimeout(lower, 100);
  rows.focus({ preventScroll: true });
};
