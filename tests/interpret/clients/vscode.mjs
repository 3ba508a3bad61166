// Prints what VS Code makes of completion lists: each line of standard input is a list, each line of output what is shown.
//
//   npm install monaco-editor@0.52.2 vscode-languageclient@9.0.1      (in an empty folder)
//   node vscode.mjs FOLDER < lists.jsonl > shown.jsonl
//
// A list: {"language", "line", "caret", "typed", "asked", "answer", "extension"}: the line with the caret (an index in
// UTF-16 units), the characters typed of the token, and those that were typed when the server was asked; the server's
// `result`. Shown: {"shown": [[label, the line once that item is accepted], …], "highlighted": index}.
//
// The code that decides is VS Code's own: vscode-languageclient's protocolConverter, monaco's suggest, completionModel,
// wordHelper and snippetParser. Written here is what lies between them: the kinds of extHostTypeConverters.ts, the
// fields that extHostLanguageFeatures.ts passes on, `Memory.select` of suggestMemory.ts, getOverwriteInfo of
// suggestController.ts (insert mode, or replace mode where a list has "replaces": true), and the middleware of two extensions (vscode-clangd 0.1.33, vscode-go 0.52).
import { createRequire, register } from 'node:module';
import Module from 'node:module';
import { pathToFileURL } from 'node:url';
import readline from 'node:readline';

const FOLDER = pathToFileURL(process.argv[2] + '/');
register('data:text/javascript,' + encodeURIComponent(
  'export async function load(url, context, next) { return url.endsWith(".css") ? ' +
  '{ format: "module", source: "", shortCircuit: true } : next(url, context); }'));

// Monaco asks a browser what it can; nothing of the answers matters here.
const any = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => '' : key === Symbol.iterator ? function* () {} : key === 'length' ? 0 : any,
  apply: () => any, construct: () => any, has: () => true,
});
globalThis.window ??= globalThis;
globalThis.self ??= globalThis;
globalThis.navigator ??= { userAgent: 'node', language: 'en', maxTouchPoints: 0, clipboard: {} };
for (const name of ['document', 'matchMedia', 'UIEvent', 'Element', 'HTMLElement', 'MouseEvent', 'KeyboardEvent',
  'DragEvent', 'Node', 'requestAnimationFrame', 'localStorage', 'location', 'MutationObserver', 'ResizeObserver'])
  globalThis[name] ??= any;

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range {
  constructor(a, b, c, d) { Object.assign(this, a instanceof Position ? { start: a, end: b } : { start: new Position(a, b), end: new Position(c, d) }); }
}
class CompletionItem { constructor(label, kind) { this.label = label; this.kind = kind; } }
class CompletionList { constructor(items, isIncomplete) { Object.assign(this, { items, isIncomplete }); } }
class SnippetString { constructor(value) { this.value = value; } }
const KINDS = ['Text', 'Method', 'Function', 'Constructor', 'Field', 'Variable', 'Class', 'Interface', 'Module', 'Property', 'Unit',
  'Value', 'Enum', 'Keyword', 'Snippet', 'Color', 'File', 'Reference', 'Folder', 'EnumMember', 'Constant', 'Struct', 'Event',
  'Operator', 'TypeParameter'];
const stub = { Position, Range, CompletionItem, CompletionList, SnippetString, CompletionItemTag: { Deprecated: 1 },
  CompletionItemKind: Object.fromEntries(KINDS.map((name, number) => [name, number])) };
const vscode = new Proxy(stub, { get: (known, name) => known[name] ?? class {} });
const load = Module._load;
Module._load = (request, ...rest) => request === 'vscode' ? vscode : load(request, ...rest);
const require = createRequire(FOLDER);
const converter = require('./node_modules/vscode-languageclient/lib/common/protocolConverter.js').createConverter(undefined, false, false);

const monaco = path => import(new URL('node_modules/monaco-editor/esm/vs/' + path, FOLDER));
const { provideSuggestionItems, CompletionOptions } = await monaco('editor/contrib/suggest/browser/suggest.js');
const { CompletionModel, LineContext } = await monaco('editor/contrib/suggest/browser/completionModel.js');
const { FuzzyScoreOptions } = await monaco('base/common/filters.js');
const { getWordAtText, DEFAULT_WORD_REGEXP } = await monaco('editor/common/core/wordHelper.js');
const { SnippetParser, Placeholder } = await monaco('editor/contrib/snippet/browser/snippetParser.js');
const { Position: EditorPosition } = await monaco('editor/common/core/position.js');
const { CancellationToken } = await monaco('base/common/cancellation.js');
const { CompletionItemKind } = await monaco('editor/common/languages.js').then(async m => m.CompletionItemKind ? m : monaco('editor/common/standalone/standaloneEnums.js'));

const words = {};
words.php = /(-?\d*\.\d\w*)|([^\-\`\~\!\@\#\%\^\&\*\(\)\=\+\[\{\]\}\\\|\;\:\'\"\,\.\<\>\/\?\s]+)/g;
words.typescript = words.typescriptreact = words.javascript = words.javascriptreact =
  /(-?\d*\.\d\w*)|([^\`\@\~\!\%\^\&\*\(\)\-\=\+\[\{\]\}\\\|\;\:\'\"\,\.\<\>/\?\s]+)/g;

const LINE = 1;
const rangeOf = range => ({ startLineNumber: range.start.line - row + LINE, startColumn: range.start.character + 1,
  endLineNumber: range.end.line - row + LINE, endColumn: range.end.character + 1 });
let row = 0;

function dto(item, word) {
  const snippet = item.insertText instanceof SnippetString;
  const text = snippet ? item.insertText.value : item.insertText;
  const range = item.range;
  return {
    label: item.label,
    kind: CompletionItemKind[KINDS[item.kind]] ?? CompletionItemKind.Property,
    sortText: item.sortText !== item.label ? item.sortText : undefined,
    filterText: item.filterText !== item.label ? item.filterText : undefined,
    preselect: item.preselect || undefined,
    insertText: text ?? (typeof item.label === 'string' ? item.label : item.label.label),
    insertTextRules: snippet ? 4 : 0,
    range: range instanceof Range ? rangeOf(range)
      : range ? { insert: rangeOf(range.inserting), replace: rangeOf(range.replacing) } : word,
  };
}

function clangd(list, leading) {
  for (const item of list.items) {
    const prefix = item.range ? leading.slice(item.range.start?.character ?? item.range.inserting.start.character) : '';
    if (prefix) item.filterText = prefix + '_' + item.filterText;
  }
}

function gopls(list) {
  if (!list.isIncomplete || list.items.length < 2) return;
  const first = list.items[0];
  const text = first.filterText || (typeof first.label === 'string' ? first.label : first.label.label);
  for (const item of list.items) item.filterText = text;
}

async function shown({ language, line, caret, typed, asked, answer, extension, number, replaces }) {
  row = number ?? 0;
  const since = typed - asked;
  const then = line.slice(0, caret - since) + line.slice(caret), column = caret - since + 1;
  const word = getWordAtText(column, words[language] ?? DEFAULT_WORD_REGEXP, then, 0);
  const at = (start, end) => ({ startLineNumber: LINE, startColumn: start, endLineNumber: LINE, endColumn: end });
  const own = word ? { insert: at(word.startColumn, column), replace: at(word.startColumn, word.endColumn) }
    : { insert: at(column, column), replace: at(column, column) };
  let list = await converter.asCompletionResult(answer, undefined, CancellationToken.None);
  if (!list) return { shown: [], highlighted: 0 };
  if (Array.isArray(list)) list = new CompletionList(list, false);
  if (extension === 'clangd') clangd(list, then.slice(0, column - 1));
  if (extension === 'gopls') gopls(list);
  const provider = { _debugDisplayName: 'server', provideCompletionItems: () => ({ suggestions: list.items.map(item => dto(item, own)), incomplete: !!list.isIncomplete }) };
  const model = { getWordAtPosition: () => word };
  const position = new EditorPosition(LINE, column);
  const items = (await provideSuggestionItems({ orderedGroups: () => [[provider]] }, model, position, new CompletionOptions(1))).items;
  const options = { filterGraceful: true, preview: false, matchOnWordStartOnly: true };
  const fuzzy = { ...FuzzyScoreOptions.default, firstMatchCanBeWeak: false };
  const view = new CompletionModel(items, column, new LineContext(then.slice(0, column - 1), 0), { distance: () => 0 }, options, 'inline', fuzzy);
  void view.items;
  for (let delta = 1; delta <= since; delta++) {
    view.lineContext = new LineContext(line.slice(0, column - 1 + delta), delta);
    void view.items;
  }
  const top = view.items[0]?.score[0];
  let highlighted = 0;
  for (let index = 0; index < view.items.length && view.items[index].score[0] === top; index++)
    if (view.items[index].completion.preselect) { highlighted = index; break; }
  return { shown: view.items.map(item => [item.textLabel, accepted(item, line, caret, replaces)]), highlighted };
}

function accepted(item, line, caret, replaces) {
  const { completion } = item, since = caret + 1 - item.position.column;
  const before = item.position.column - item.editStart.column + since;
  const after = (replaces ? item.editReplaceEnd : item.editInsertEnd).column - item.position.column;
  const text = completion.insertTextRules & 4 ? new SnippetParser().parse(completion.insertText).toString() : completion.insertText;
  return line.slice(0, caret - before) + text + line.slice(caret + after);
}

const lines = [];
for await (const text of readline.createInterface({ input: process.stdin })) lines.push(JSON.stringify(await shown(JSON.parse(text))));
process.stdout.write(lines.map(line => line + '\n').join(''), () => process.exit(0));
