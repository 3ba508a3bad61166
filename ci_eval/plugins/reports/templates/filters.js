"use strict";
// Filters in one line, with the meaning that `ci-eval report --filter` gives them: kind=METHOD_CALL prefix=1 file='src/*'.
// Each condition is decided once for each distinct value, so a row needs only a look-up.
ciEval.conditions = (text) => {
  // Quotes and backslashes have the same meaning as in a shell.
  const words = [];
  let word = null;
  for (const [part, single, double, escaped] of text.matchAll(/'([^']*)'|"((?:\\["\\]|[^"])*)"|\\(.)|\s+|[^\s'"\\]+|./gsu)) {
    if (/^\s/u.test(part)) { if (word !== null) words.push(word); word = null; continue; }
    if (part === "'" || part === '"' || part === "\\") return null;
    word = (word ?? "") + (single ?? double?.replace(/\\(["\\])/gu, "$1") ?? escaped ?? part);
  }
  if (word !== null) words.push(word);
  const conditions = words.map((each) => /^([a-z]+)=(.+)$/su.exec(each)?.slice(1));
  return words.length && conditions.every((each) => each && ciEval.conditionNames.includes(each[0])) ? conditions : null;
};
ciEval.conditionNames = ["kind", "prefix", "file", "text", "static", "argument", "first", "length", "location", "package", "strategy", "scenario", "evolution"];

// A pattern of Python's fnmatch.
ciEval.glob = (pattern) => {
  const source = pattern.replace(/\[(!?)(\]?[^\]]*)\]|[\s\S]/gu, (part, not, set) => {
    if (set !== undefined && part.length > 1) return `[${not ? "^" : ""}${set.replace(/[\\^[\]]/gu, "\\$&")}]`;
    return part === "*" ? "[^]*" : part === "?" ? "[^]" : part.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
  });
  return new RegExp(`^(?:${source})$`, "u");
};

// A function that decides whether a row passes all conditions.
ciEval.passing = (conditions, { columns, kinds, files, texts: shown, wholes, properties }) => {
  // The page shows only the beginning of a long text.
  const texts = [...shown];
  for (const [number, whole] of wholes) texts[number] = whole;
  const among = (column, values, test) => [column, Uint8Array.from(values, (value) => test(value))];
  const listed = (value) => { const names = value.split(","); return (name) => names.includes(name); };
  const matching = (make) => {
    let pattern = null;
    try { pattern = make(); } catch { return () => false; }
    return (text) => text !== null && pattern.test(text);
  };
  const property = (key, test) => among(columns.properties, properties, (each) => each[key] !== null && test(each[key]));
  const makers = {
    kind: (value) => among(columns.kind, kinds, listed(value)),
    prefix: (value) => among(columns.typed, Array.from({ length: 1 + columns.typed.reduce((most, each) => Math.max(most, each), 0) }, (_, typed) => typed), (typed) => typed === Number(value)),
    file: (value) => among(columns.file, files.map(([path]) => path), matching(() => ciEval.glob(value))),
    text: (value) => among(columns.expected, texts, matching(() => ciEval.glob(value))),
    length: (value) => among(columns.expected, texts, (text) => [...text].length >= Number(value)),
    package: (value) => property("package", matching(() => new RegExp(`^(?:${value})$`, "su"))),
    location: (value) => property("location", (each) => each === value),
  };
  for (const flag of ["static", "argument", "first"]) makers[flag] = (value) => property(flag, (each) => each === (value === "true"));
  for (const list of ["strategy", "scenario", "evolution"]) makers[list] = (value) => property(list, listed(value));
  const tests = conditions.map(([name, value]) => makers[name](value));
  return (row) => tests.every(([column, allowed]) => allowed[column[row]]);
};
