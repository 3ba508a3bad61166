"use strict";
// Of a page whose run goes on: loads it again once there is a newer report. What is shown stands in the address, so it
// is the same afterwards; a page that is out of sight, or typed into, waits.
(() => {
  const EVERY = 2000;
  const { edition, address } = document.currentScript.dataset;
  globalThis.ciEvalEdition = (newest) => {
    if (String(newest) !== edition && !document.activeElement?.matches("input, select")) location.reload();
  };
  // As a script, since a page from disk may read nothing else. While a report is replaced there is none.
  setInterval(() => {
    if (document.visibilityState !== "visible") return;
    const script = document.createElement("script");
    script.src = `${address}?${Date.now()}`;
    script.onload = script.onerror = () => script.remove();
    document.head.append(script);
  }, EVERY);
})();
