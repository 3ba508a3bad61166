"use strict";
// For every page with source code: colours of the syntax, places that were not sampled, and lines as addresses (#L300).
(() => {
  const code = document.getElementById("code");
  const numbers = document.querySelector(".numbers");
  const page = document.body.dataset;

  // -------------------------------------------------------------------------------------------------------- colours

  // `encode_stretches` in rendering/htmlpages.py writes these letters. Tags instead of ranges would double the page.
  const NAMES = { K: "keyword", S: "string", C: "comment", U: "unasked" };
  const paint = (spelled) => {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    let node = texts.nextNode();
    let before = 0;
    const place = (at, isEnd) => {
      while (node && at - before >= node.length + (isEnd ? 1 : 0)) {
        before += node.length;
        node = texts.nextNode();
      }
      return node && [node, at - before];
    };
    let at = 0;
    for (const [, letter, gap, length] of spelled.matchAll(/([A-Z])([0-9a-z]*)\.([0-9a-z]*)/g)) {
      const begin = place(at + (parseInt(gap, 36) || 0), false);
      at += (parseInt(gap, 36) || 0) + (parseInt(length, 36) || 0);
      const end = begin && place(at, true);
      if (!end) return;
      const range = new StaticRange({ startContainer: begin[0], startOffset: begin[1], endContainer: end[0], endOffset: end[1] });
      const name = NAMES[letter];
      if (!CSS.highlights.has(name)) CSS.highlights.set(name, new Highlight());
      CSS.highlights.get(name).add(range);
    }
  };
  // A browser that has no highlights shows the source without colours.
  if (globalThis.CSS?.highlights) {
    paint(code.dataset.colours);
    paint(code.dataset.unasked);
  }

  // ---------------------------------------------------------------------------------------------------------- lines

  const [begin, end] = numbers.textContent.trim().split(/\s+/).filter((_, at, all) => at === 0 || at === all.length - 1).map(Number);
  const pages = page.pages.split(" ");
  const firsts = page.lines.split(" ").map(Number);

  const go = () => {
    const wanted = /^#L(\d+)$/.exec(location.hash);
    code.classList.toggle("marked", wanted !== null);
    if (!wanted) return;
    const line = Number(wanted[1]);
    const on = Math.max(0, firsts.findLastIndex((first) => first <= line));
    if ((line < begin || line > (end ?? begin)) && pages[on] && !location.pathname.endsWith(`/${pages[on]}`)) {
      location.replace(`${pages[on]}#L${line}`);
      return;
    }
    const height = parseFloat(getComputedStyle(code).lineHeight);
    code.style.setProperty("--line-number", String(line - begin));
    const source = document.querySelector(".source");
    source.scrollTop = (line - begin) * height - source.clientHeight / 3;
  };
  numbers.addEventListener("click", ({ offsetY }) => {
    const style = getComputedStyle(numbers);
    const line = begin + Math.floor((offsetY - parseFloat(style.paddingTop)) / parseFloat(style.lineHeight));
    if (line >= begin && line <= (end ?? begin)) location.hash = `L${line}`;
  });
  addEventListener("hashchange", go);
  go();
})();
