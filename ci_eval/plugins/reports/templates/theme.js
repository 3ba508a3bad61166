"use strict";
// Choose light, dark or the system's colours. This runs before the page is drawn, so that nothing flashes.
(() => {
  const SIGNS = { auto: "◐", light: "○", dark: "●" };
  const CHOICES = Object.keys(SIGNS);
  const KEY = "ci-eval-theme";
  let chosen = "auto";
  // Some browsers store nothing, or nothing for pages from disk. The choice then holds for this page only.
  const read = () => {
    try { return localStorage.getItem(KEY); } catch { return null; }
  };
  const keep = () => {
    try { localStorage.setItem(KEY, chosen); } catch { /* As above. */ }
  };
  const apply = () => {
    document.documentElement.dataset.theme = chosen;
    const button = document.querySelector("button.theme");
    if (!button) return;
    button.textContent = `${SIGNS[chosen]} ${chosen}`;
    button.setAttribute("aria-label", `Colours: ${chosen}`);
    button.hidden = false;
  };
  const restore = () => {
    const kept = read();
    if (CHOICES.includes(kept)) chosen = kept;
    apply();
  };
  restore();
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.querySelector("button.theme")?.addEventListener("click", () => {
      chosen = CHOICES[(CHOICES.indexOf(chosen) + 1) % CHOICES.length];
      keep();
      apply();
    });
  });
  // If a user goes back to this page, another page may have changed the choice.
  addEventListener("pageshow", restore);
})();
