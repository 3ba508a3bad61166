"use strict";
// The page of a file in a comparison: it shows both lists of a token side by side. Everything also works by keyboard.
const ciEval = {
  sessions: new Map(),
  pairs(all) {
    for (const each of all) this.sessions.set(each[0], each);
    const wanted = decodeURIComponent(location.hash.slice(1));
    const token = wanted && tokens.find((each) => each.dataset.ids.split(" ").includes(wanted));
    if (token) show(token, wanted);
    // Scroll the token to the middle, where the open panel does not hide it.
    if (token) token.scrollIntoView({ block: "center", inline: "nearest" });
  },
};

const panel = document.getElementById("panel");
const tokens = [...document.querySelectorAll(".pair")];
let open = null;

function made(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function side(title, [status, rank, total, items], expected) {
  const list = made("ol", { class: "suggestions" });
  let last = 0;
  for (const [place, text] of items) {
    if (place > last + 1) list.append(made("li", { class: "gap" }, "…"));
    last = place;
    const row = made("li", place === rank ? { class: "expected" } : {});
    row.append(made("span", { class: "place" }, String(place)), made("span", { class: "text" }, text));
    if (place === rank) row.append(made("span", { class: "hidden" }, "expected"));
    list.append(row);
  }
  const outcome = rank ? `rank ${rank} of ${total}` : total ? `absent among ${total}` : status;
  return made("div", {}, made("h3", {}, `${title}: ${outcome}`), list);
}

// If several sessions begin at one place, with different letters typed, each has a button.
function others(token, chosen) {
  const ids = token.dataset.ids.split(" ").filter((id) => ciEval.sessions.has(id));
  if (ids.length < 2) return "";
  const result = (side) => (side[1] ? `${side[1]}` : side[2] ? "absent" : side[0]);
  return made("div", { class: "choice", role: "group", "aria-label": "Session" }, ...ids.map((id) => {
    const [, , prefix, , base, fresh] = ciEval.sessions.get(id);
    const name = `${prefix ? `“${prefix}”` : "nothing typed"} ${result(base)} → ${result(fresh)}`;
    const button = made("button", { type: "button", "aria-pressed": String(id === chosen) }, name);
    button.addEventListener("click", () => {
      show(token, id);
      panel.querySelector("[aria-pressed=true]").focus();
    });
    return button;
  }));
}

function show(token, wanted = token && token.id) {
  const session = token && ciEval.sessions.get(wanted);
  if (!session) return;
  if (open) open.classList.remove("open");
  open = token;
  token.classList.add("open");
  const [id, expected, prefix, kind, base, fresh] = session;
  const close = made("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", hide);
  const facts = `${kind.toLowerCase().replaceAll("_", " ")}, ${prefix ? `after “${prefix}”` : "nothing typed"}, session ${id}`;
  panel.replaceChildren(
    made("div", { class: "line" }, made("h2", {}, expected), close),
    others(token, id),
    made("p", { class: "quiet" }, facts),
    made("div", { class: "sides" }, side("base", base, expected), side("new", fresh, expected)),
  );
  panel.hidden = false;
  token.scrollIntoView({ block: "nearest", inline: "nearest" });
  document.getElementById("said").textContent = token.getAttribute("aria-label");
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
}

function hide() {
  panel.hidden = true;
  if (open) {
    open.classList.remove("open");
    open.focus();
  }
  open = null;
}

function step(by, wanted) {
  let at = tokens.indexOf(open || document.activeElement);
  if (at < 0 && by < 0) at = tokens.length;
  for (at += by; at >= 0 && at < tokens.length; at += by) {
    if (tokens[at].matches(wanted)) {
      tokens[at].focus({ preventScroll: true });
      return show(tokens[at]);
    }
  }
}

document.getElementById("code").addEventListener("click", (event) => show(event.target.closest(".pair")));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const only = document.body.dataset.show;
  const changed = only === "all" ? ".better, .worse" : `.${only}`;
  if (event.key === "n") step(1, changed);
  else if (event.key === "p") step(-1, changed);
  else if (event.key === "j") step(1, ".pair");
  else if (event.key === "k") step(-1, ".pair");
  else if (event.key === "Escape") hide();
  else if (event.key === "Enter" && event.target.matches(".pair")) { show(event.target); panel.focus(); }
});
for (const button of document.querySelectorAll("[data-show][type=button]")) {
  button.addEventListener("click", () => {
    document.body.dataset.show = button.dataset.show;
    for (const each of document.querySelectorAll("[data-show][type=button]")) each.setAttribute("aria-pressed", String(each === button));
  });
}
if (tokens.length) tokens[0].tabIndex = 0;
