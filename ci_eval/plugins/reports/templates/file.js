"use strict";
// Open the sessions of a token. They are loaded when needed, from scripts in data/, since a page opened from disk cannot
// fetch. All content is set as text, never as markup.
ciEval.loaded = new Map();
ciEval.pages = null;
ciEval.packed = (script, text) => ciEval.loaded.set(script, ciEval.unpacked(text));
ciEval.places = (pages) => { ciEval.pages = pages; };

(() => {
  const page = document.body.dataset;
  const starts = page.starts.split(" ").filter(Boolean).map(Number);
  const tokens = [...document.querySelectorAll("#code .t")];
  const panel = document.getElementById("panel");
  const help = document.getElementById("help");
  const MISSES = ["absent", "failed"];
  // The task decides what each outcome means, and the legend shows it.
  const WORDS = Object.fromEntries([...document.querySelectorAll(".legend li")].map((each) =>
    [each.querySelector(".t").classList[1], each.querySelector(".meaning").textContent]));
  let open = null;

  const outcome = (token) => token.classList[1];
  const ids = (token) => token.dataset.ids.split(" ");

  const make = (tag, values = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(values)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  };

  // ------------------------------------------------------------------------------------------------------- loading

  const pending = new Map();
  const load = (file) => {
    if (!pending.has(file)) {
      pending.set(file, new Promise((resolve, reject) => {
        const script = make("script", { src: `data/${page.name}-${file}.js`, onload: resolve });
        script.addEventListener("error", () => {
          pending.delete(file);
          reject(new Error(`data/${page.name}-${file}.js cannot be read. Is the report's folder complete?`));
        });
        document.head.append(script);
      }));
    }
    return pending.get(file);
  };

  const scriptOf = (index) => {
    let low = 0;
    for (let high = starts.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= index) low = middle;
      else high = middle;
    }
    return low;
  };

  const sessionsOf = async (token) => {
    const first = Number(token.dataset.at);
    const indexes = ids(token).map((_, at) => first + at);
    await Promise.all([...new Set(indexes.map(scriptOf))].map(load));
    return Promise.all(indexes.map(async (index) => (await ciEval.loaded.get(scriptOf(index)))[index - starts[scriptOf(index)]]));
  };

  // --------------------------------------------------------------------------------------------------------- panel

  const rankWords = ({ rank, total }) => (rank ? `rank ${rank}` : total ? "absent" : "empty");

  const choice = (label, names, chosen, choose) =>
    make("div", { class: "choice", role: "group", "aria-label": label }, ...names.map((name, at) =>
      make("button", { type: "button", "aria-pressed": String(at === chosen), onclick: () => choose(at) }, name)));

  const copyButton = (what, text) => make("button", { type: "button", class: "copy", onclick: async ({ target }) => {
    await copy(text);
    target.textContent = "copied";
    setTimeout(() => { target.textContent = what; }, 1500);
  } }, what);

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Frames and plain HTTP have no clipboard object.
      const field = make("textarea", { class: "hidden" });
      field.value = text;
      panel.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  };

  const facts = (pairs) => make("dl", { class: "facts" }, ...pairs.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));

  const gradeWords = ([name, value]) => `${name} ${value.toFixed(2)}`;

  const suggestionList = (lookup) => {
    const list = make("ol", { class: "suggestions" });
    let last = 0;
    const gap = (count) => count > 0 && list.append(make("li", { class: "gap" }, `${count.toLocaleString("en")} more`));
    for (const [place, text, kind, own = 0, grades = [], remark = ""] of lookup.items) {
      gap(place - last - 1);
      const expected = place === lookup.rank;
      list.append(make("li", { class: expected ? "expected" : null },
        make("span", { class: "place" }, String(place)),
        make("span", { class: "text" }, make("bdi", {}, text), expected ? make("span", { class: "star", title: "the expected text" }, " ★") : ""),
        make("span", { class: "kind", title: own ? `place ${own} in the engine's own order` : null }, own ? `${kind} (was ${own})` : kind),
        grades.length ? make("span", { class: "grades" }, grades.map(gradeWords).join(" · ")) : "",
        remark ? make("span", { class: "grades remark" }, make("bdi", {}, remark)) : ""));
      last = place;
    }
    if (lookup.rank > last) {
      gap(lookup.rank - last - 1);
      list.append(make("li", { class: "gap" }, `${lookup.rank}: the expected text, beyond the stored suggestions`));
      last = lookup.rank;
    }
    gap(lookup.total - last);
    return list;
  };

  const prefixWords = (prefix) => (prefix ? `“${prefix}”` : "no prefix");

  const quoted = (word) => (/^[\w.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

  const lookupView = (lookup, record) => [
    facts([
      ...(record ? [] : [["Prefix", make("code", {}, lookup.prefix || "none")], ["Expected", rankWords(lookup)]]),
      ...lookup.grades.map(([name, value]) => [name, value.toFixed(2)]),
      ...(lookup.latency === null ? [] : [["Latency", `${lookup.latency.toLocaleString("en", { maximumFractionDigits: 1 })} ms`]]),
      ["Suggestions", `${lookup.items.length.toLocaleString("en")} of ${lookup.total.toLocaleString("en")} shown`],
      ...(lookup.selected && !record ? [["Selected", "yes"]] : []),
    ]),
    suggestionList(lookup),
  ];

  const indented = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 1);
    } catch {
      return text;
    }
  };

  // A line is as `ci-eval show --trace` prints it: when, direction, what, and after two blanks the JSON.
  const messageView = (line) => {
    const [, when, direction, what = "", said] = /^ *([\d.]+ ms)  (->|<-) (?:([^{["]*?)  )?([^]*)$/.exec(line) ?? ["", "", "", "", line];
    return make("li", { class: direction === "->" ? "sent" : "received" }, make("details", {},
      make("summary", {}, make("span", { class: "place" }, when), ` ${direction} `, make("bdi", {}, what || said)),
      make("pre", {}, make("bdi", {}, indented(said)))));
  };

  const traceView = (lines) => make("details", { class: "trace" },
    make("summary", {}, `Messages to and from the engine (${lines.length.toLocaleString("en")})`),
    make("ol", {}, ...lines.map(messageView)));

  // A page opened from disk knows where its workspace is, so its command works in any folder.
  const inside = /^(.*)\/reports\/html\/files\/[^/]+$/.exec(decodeURIComponent(location.pathname));
  const workspace = location.protocol === "file:" && inside ? inside[1] : page.workspace;

  const sessionView = (session, chosen, choose) => {
    const at = Math.min(chosen, session.lookups.length - 1);
    const show = `ci-eval show ${quoted(workspace)} ${quoted(session.id)}`;
    return [
      make("p", { class: "outcome" }, make("span", { class: `t ${session.outcome}`, "aria-hidden": "true" }, "ab"), ` ${WORDS[session.outcome]}`,
        make("span", { class: "quiet" }, ` status ${session.status}`)),
      session.message ? make("pre", { class: "message" }, session.message) : "",
      session.lookups.length > 1 ? choice("Lookup", session.lookups.map((each) => `${prefixWords(each.prefix)} ${rankWords(each)}`), at, choose) : "",
      ...(at >= 0 ? lookupView(session.lookups[at], session.record) : [make("p", { class: "quiet" }, "No lookup.")]),
      ...(session.properties.length ? [make("h3", {}, session.record ? "Record" : "Token"), facts(session.properties)] : []),
      ...(session.trace.length ? [traceView(session.trace)] : []),
      make("h3", {}, "Replay"),
      make("p", { class: "replay" }, make("code", {}, session.id), copyButton("copy id", session.id), copyButton("copy command", show)),
      make("p", { class: "replay quiet" }, make("code", {}, show)),
    ];
  };

  const render = (sessions, session, lookup) => {
    // The buttons are made again, so the pressed button must get the focus again.
    const draw = (chosenSession, chosenLookup, group) => {
      render(sessions, chosenSession, chosenLookup);
      panel.querySelector(`[aria-label="${group}"] [aria-pressed="true"]`).focus();
    };
    const shown = sessions[session];
    panel.replaceChildren(
      make("div", { class: "line" }, make("h2", { class: shown.record ? "record" : null }, make("bdi", {}, shown.expected || "no reference")),
        make("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Esc)", onclick: () => close(true) }, "×")),
      sessions.length > 1 ? choice("Session", sessions.map((each) => {
        const last = each.lookups.at(-1);
        return last ? `${prefixWords(last.prefix)} ${each.outcome === "failed" ? "failed" : rankWords(last)}` : WORDS[each.outcome];
      }), session, (at) => draw(at, Infinity, "Session")) : "",
      ...sessionView(shown, lookup, (at) => draw(session, at, "Lookup")));
    history.replaceState(null, "", `#${encodeURIComponent(shown.id)}`);
  };

  const close = (focus) => {
    if (open && focus) open.focus();
    open?.classList.remove("open");
    open?.setAttribute("aria-expanded", "false");
    open = null;
    panel.hidden = true;
    history.replaceState(null, "", location.pathname + location.search);
  };

  const select = async (token, id = null, block = "nearest") => {
    open?.classList.remove("open");
    open?.setAttribute("aria-expanded", "false");
    current().tabIndex = -1;
    open = token;
    token.classList.add("open");
    token.setAttribute("aria-expanded", "true");
    token.tabIndex = 0;
    token.focus({ preventScroll: true });
    panel.hidden = false;
    token.scrollIntoView({ block, inline: "nearest" });
    try {
      const sessions = await sessionsOf(token);
      if (open !== token) return;
      panel.scrollTop = 0;
      render(sessions, Math.max(0, id === null ? worst(sessions, token) : ids(token).indexOf(id)), Infinity);
      say(`${token.textContent}: ${WORDS[outcome(token)]}`);
    } catch (error) {
      panel.replaceChildren(make("p", { class: "message" }, error.message));
    }
    token.scrollIntoView({ block, inline: "nearest" });
  };

  const worst = (sessions, token) => sessions.findIndex((session) => session.outcome === outcome(token));
  const say = (words) => { document.getElementById("said").textContent = words; };

  // ---------------------------------------------------------------------------------------------------- navigation

  const current = () => open ?? tokens.find((token) => token.tabIndex === 0) ?? document.createElement("i");

  const step = (by, isWanted, elsewhere, nothing) => {
    const here = tokens.indexOf(current());
    const started = open !== null || document.activeElement === tokens[here];
    let at = started ? here + by : by > 0 ? 0 : tokens.length - 1;
    while (tokens[at] && !isWanted(tokens[at])) at += by;
    if (tokens[at]) select(tokens[at], null, "center");
    else if (elsewhere) location.assign(elsewhere);
    else say(nothing);
  };
  const isMiss = (token) => MISSES.includes(outcome(token));
  const any = () => true;
  const KEYS = {
    n: () => step(1, isMiss, page.nextMiss, "no further miss in this file"),
    p: () => step(-1, isMiss, page.previousMiss, "no earlier miss in this file"),
    j: () => step(1, any, page.nextToken, "this is the last token"),
    k: () => step(-1, any, page.previousToken, "this is the first token"),
    "?": () => help.showModal(),
    Escape: () => open && close(true),
  };
  KEYS.N = KEYS.j;
  KEYS.P = KEYS.k;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.target.matches("input, textarea")) return;
    const token = event.target.closest("#code .t");
    if (token && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      if (token === open) panel.focus();
      else select(token);
    } else if (Object.hasOwn(KEYS, event.key)) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });

  document.getElementById("code").addEventListener("click", ({ target }) => {
    const token = target.closest(".t");
    // A user who selects text to copy it does not want a panel.
    if (token && getSelection().isCollapsed) select(token);
  });
  document.getElementById("open-help").addEventListener("click", () => help.showModal());

  const openHash = async () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* not ours, then */ }
    if (!id || /^L\d+$/.test(id)) return;
    const token = tokens.find((each) => ids(each).includes(id));
    if (token) {
      select(token, id, "center");
      return;
    }
    const links = page.pages.split(" ");
    if (links.length < 2) return;
    await load("places");
    const number = ciEval.pages.findIndex((sessions) => sessions.includes(id));
    if (number >= 0) location.replace(`${links[number]}#${encodeURIComponent(id)}`);
  };
  addEventListener("hashchange", openHash);

  for (const token of tokens) {
    token.setAttribute("role", "button");
    token.setAttribute("aria-expanded", "false");
    token.setAttribute("aria-description", WORDS[outcome(token)]);
    token.tabIndex = -1;
  }
  if (tokens.length) tokens[0].tabIndex = 0;
  document.getElementById("open-help").hidden = false;
  openHash();
})();
