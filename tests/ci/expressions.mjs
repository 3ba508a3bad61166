// GitHub's own evaluation of an expression: node expressions.mjs, with {expression, contexts} on standard input.
import { readFileSync } from "node:fs";
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";

// Of a run in which nothing has failed yet.
const STATUS = { always: true, cancelled: false, failure: false, success: true };

const { expression, contexts } = JSON.parse(readFileSync(0, "utf8"));
const functions = Object.entries(STATUS).map(([name, value]) => ({
  name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(value),
}));
const names = Object.keys(contexts);
const parsed = new Parser(new Lexer(expression).lex().tokens, names, functions).parse();
const values = JSON.parse(JSON.stringify(contexts), data.reviver);
const known = new Map(functions.map((each) => [each.name, each]));
console.log(JSON.stringify(new Evaluator(parsed, values, known).evaluate(), data.replacer));
