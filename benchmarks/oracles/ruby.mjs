// An oracle of Ruby: the names and keywords of files, by Prism.
//
//     node ruby.mjs PRISM < PATHS        the folder of the package @ruby/prism, and paths, one a line
//
// Writes a line of JSON for each file: `path`, and `tokens` (offset in bytes, text, kind) or `error`. DEFINITION is the kind
// of names that refer to nothing; of several kinds between `|`, any is right.

import fs from "node:fs";
import { pathToFileURL } from "node:url";

const { loadPrism } = await import(pathToFileURL(`${process.argv[2]}/src/index.js`));
const parse = await loadPrism();

const KEYWORDS = new Set(("BEGIN END __ENCODING__ __FILE__ __LINE__ alias and begin break case class def defined? do else elsif end ensure "
  + "false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield").split(" "));
const SCOPES = new Set(["ProgramNode", "DefNode", "ClassNode", "ModuleNode", "SingletonClassNode", "BlockNode", "LambdaNode"]);
const WORDS = new Set(["SelfNode", "NilNode", "TrueNode", "FalseNode", "SourceFileNode", "SourceLineNode", "SourceEncodingNode", "RedoNode", "RetryNode"]);
const NAME = /^[\p{L}_][\p{L}\p{N}_]*[?!]?$/u;
const CAPITALS = /^[A-Z][A-Z0-9_]+$/;

class File {
  constructor(source) {
    this.source = source;
    this.kinds = new Map();
    this.scopes = [];
  }

  text(location) {
    return this.source.subarray(location.startOffset, location.startOffset + location.length).toString();
  }

  put(location, kind, text = location && this.text(location)) {
    if (location && location.length && !this.kinds.has(location.startOffset)) this.kinds.set(location.startOffset, [text, kind]);
  }

  /** A local that is assigned to: the first assignment in a scope defines it. */
  bind(location, name, depth) {
    const names = this.scopes[this.scopes.length - 1 - depth];
    this.put(location, names.has(name) ? "VARIABLE" : "DEFINITION", name);
    names.add(name);
  }

  walk(node) {
    const type = node.constructor.name;
    const isScope = SCOPES.has(type);
    if (isScope) this.scopes.push(new Set());
    this[type]?.(node);
    this.variables(node, type);
    if (WORDS.has(type)) this.put(node.location, "KEYWORD");
    const children = [];
    for (const [key, value] of Object.entries(node)) {
      // A name may be spelled like a keyword.
      if (key.endsWith("Loc") && value && !["nameLoc", "valueLoc", "messageLoc", "contentLoc"].includes(key) && KEYWORDS.has(this.text(value)))
        this.put(value, "KEYWORD");
      for (const child of Array.isArray(value) ? value : [value])
        if (child && typeof child === "object" && child.constructor.name.endsWith("Node")) children.push(child);
    }
    // A name is known behind its assignment, in the order of the source.
    children.sort((one, two) => one.location.startOffset - two.location.startOffset);
    for (const child of children) this.walk(child);
    if (isScope) this.scopes.pop();
  }

  /** The names of variables and constants, whose nodes come in many forms. */
  variables(node, type) {
    const [, what, form] = /^(LocalVariable|InstanceVariable|ClassVariable|GlobalVariable|Constant)(\w*)Node$/.exec(type) ?? [];
    if (!what || form.startsWith("Path")) return;
    const location = node.nameLoc ?? node.location;
    if (what === "LocalVariable") {
      if (form === "Read") this.put(location, "VARIABLE");
      else this.bind(location, node.name, node.depth);
    } else if (what === "Constant") {
      if (form === "Read") this.put(location, CAPITALS.test(node.name) ? "VARIABLE|TYPE_REFERENCE" : "TYPE_REFERENCE");
      else this.put(location, "DEFINITION");
    } else {
      const kind = what === "GlobalVariable" ? "VARIABLE" : "FIELD";
      this.put(location, form === "Read" ? kind : `${kind}|DEFINITION`);
    }
  }

  parameter(node) {
    this.scopes.at(-1).add(node.name);
    this.put(node.nameLoc ?? node.location, "DEFINITION", node.name);
  }

  RequiredParameterNode(node) { this.parameter(node); }
  OptionalParameterNode(node) { this.parameter(node); }
  RequiredKeywordParameterNode(node) { this.parameter(node); }
  OptionalKeywordParameterNode(node) { this.parameter(node); }
  RestParameterNode(node) { this.parameter(node); }
  KeywordRestParameterNode(node) { this.parameter(node); }
  BlockParameterNode(node) { this.parameter(node); }
  BlockLocalVariableNode(node) { this.parameter(node); }
  ItLocalVariableReadNode(node) { this.put(node.location, "VARIABLE"); }
  BackReferenceReadNode(node) { this.put(node.location, "VARIABLE"); }
  NumberedReferenceReadNode(node) { this.put(node.location, "VARIABLE"); }

  call(node) {
    const name = node.messageLoc && this.text(node.messageLoc);
    if (name === "not") this.put(node.messageLoc, "KEYWORD");
    else if (name && NAME.test(name)) this.put(node.messageLoc, "METHOD_CALL");
  }

  CallNode(node) { this.call(node); }
  CallTargetNode(node) { this.call(node); }
  CallAndWriteNode(node) { this.call(node); }
  CallOrWriteNode(node) { this.call(node); }
  CallOperatorWriteNode(node) { this.call(node); }

  /** A regular expression with named groups defines locals; it is no token itself. */
  MatchWriteNode(node) {
    for (const target of node.targets) {
      this.scopes[this.scopes.length - 1 - target.depth].add(target.name);
      this.kinds.set(target.location.startOffset, ["", "DEFINITION"]);
    }
  }

  path(node, isDefined) {
    const alone = node.parent ? "FIELD" : "VARIABLE";
    const kind = CAPITALS.test(this.text(node.nameLoc)) ? `${alone}|TYPE_REFERENCE` : "TYPE_REFERENCE";
    this.put(node.nameLoc, isDefined ? "DEFINITION" : kind);
  }

  ConstantPathNode(node) { this.path(node, false); }
  ConstantPathTargetNode(node) { this.path(node, true); }
  ConstantPathWriteNode(node) { this.path(node.target, true); }
  ConstantPathOrWriteNode(node) { this.path(node.target, true); }
  ConstantPathAndWriteNode(node) { this.path(node.target, true); }
  ClassNode(node) { this.defined(node.constantPath); }
  ModuleNode(node) { this.defined(node.constantPath); }
  DefNode(node) { this.put(node.nameLoc, "DEFINITION"); }

  defined(path) {
    this.put(path.nameLoc ?? path.location, "DEFINITION");
  }

  ForwardingSuperNode(node) {
    this.put({ startOffset: node.location.startOffset, length: "super".length }, "KEYWORD");
  }

  ArgumentsNode(node) {
    for (const hash of node.arguments_ ?? node.arguments ?? []) {
      if (hash.constructor.name !== "KeywordHashNode") continue;
      for (const element of hash.elements) {
        const key = element.key;
        // `"a": 1` has no token, `a: 1` one.
        if (key?.constructor.name === "SymbolNode" && !key.openingLoc && key.closingLoc) this.put(key.valueLoc, "ARGUMENT_NAME");
      }
    }
  }

  renamed(symbol, kind) {
    if (symbol.constructor.name === "SymbolNode" && !symbol.openingLoc && NAME.test(this.text(symbol.valueLoc))) this.put(symbol.valueLoc, kind);
  }

  AliasMethodNode(node) { this.renamed(node.newName, "DEFINITION"); this.renamed(node.oldName, "FIELD"); }
  UndefNode(node) { for (const name of node.names) this.renamed(name, "FIELD"); }
  AliasGlobalVariableNode(node) { this.put(node.newName.location, "DEFINITION"); }
}

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const source = fs.readFileSync(path);
  const result = parse(source.toString());
  const answer = { path };
  if (result.errors.length) answer.error = result.errors[0].message;
  else {
    const file = new File(source);
    file.walk(result.value);
    answer.tokens = [...file.kinds].filter(([, [text]]) => text).map(([offset, [text, kind]]) => [offset, text, kind]);
  }
  console.log(JSON.stringify(answer));
}
