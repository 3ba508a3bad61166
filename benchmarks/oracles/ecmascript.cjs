// An oracle of JavaScript and TypeScript: the names and keywords of files, by TypeScript's compiler API (version 5).
//
//     node ecmascript.cjs TYPESCRIPT < PATHS        the folder of the package `typescript`, and paths, one a line
//
// Writes a line of JSON for each file: `path`, and `tokens` (offset in UTF-16 units, text, kind) or `error`. DEFINITION is
// the kind of names that refer to nothing; of several kinds between `|`, any is right.

const fs = require("fs");
const ts = require(process.argv[2]);
const K = ts.SyntaxKind;
const OPTIONS = { noResolve: true, noLib: true, allowJs: true, target: ts.ScriptTarget.ESNext, jsx: ts.JsxEmit.Preserve };

/** Whether an expression is the target of an assignment or a part of one; then the keys of literals refer to members. */
function isTarget(expression) {
  let node = expression;
  for (;;) {
    const parent = node.parent;
    if (ts.isBinaryExpression(parent)) return parent.left === node && parent.operatorToken.kind === K.EqualsToken;
    if (ts.isForOfStatement(parent) || ts.isForInStatement(parent)) return parent.initializer === node;
    if (ts.isPropertyAssignment(parent) && parent.initializer !== node) return false;
    if (!(ts.isPropertyAssignment(parent) || ts.isObjectLiteralExpression(parent) || ts.isArrayLiteralExpression(parent)
      || ts.isSpreadElement(parent) || ts.isSpreadAssignment(parent) || ts.isParenthesizedExpression(parent))) return false;
    node = parent;
  }
}

/** The outermost expression that is the same value: `(a)`, `a!`. */
function unwrapped(node) {
  while (ts.isParenthesizedExpression(node.parent) || ts.isNonNullExpression(node.parent)
    || (ts.isExpressionWithTypeArguments(node.parent) && !ts.isHeritageClause(node.parent.parent))) node = node.parent;
  return node;
}

/** What an expression's name is by its place: called, a type, or neither (""). */
function role(expression) {
  const node = unwrapped(expression);
  const parent = node.parent;
  if (ts.isCallExpression(parent) && parent.expression === node) return "METHOD_CALL";
  if (ts.isTaggedTemplateExpression(parent) && parent.tag === node) return "METHOD_CALL";
  if (ts.isNewExpression(parent) && parent.expression === node) return "TYPE_REFERENCE";
  if (ts.isExpressionWithTypeArguments(parent) && ts.isHeritageClause(parent.parent)) return "TYPE_REFERENCE";
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === K.InstanceOfKeyword && parent.right === node) return "TYPE_REFERENCE";
  return "";
}

/** The kind of a name before a dot: a type if the file shows it to be one, either if another file declares it. */
function receiver(node, checker) {
  const symbol = checker.getSymbolAtLocation(node);
  if (!symbol || symbol.flags & ts.SymbolFlags.Alias) return "VARIABLE|TYPE_REFERENCE";
  if (symbol.flags & ts.SymbolFlags.EnumMember) return "FIELD";
  // TypeScript takes functions with members for classes, too.
  const declaration = symbol.valueDeclaration;
  if (declaration && (ts.isClassLike(declaration) || ts.isEnumDeclaration(declaration))) return "TYPE_REFERENCE";
  return "VARIABLE";
}

/** Whether a member is assigned to, which creates it in JavaScript: then it is a definition, the first time. */
function creates(access, file) {
  return ts.isSourceFileJS(file) && isTarget(access);
}

/** The kind of a name that stands for a value. */
function value(node, file, checker) {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) {
    if (parent.expression === node) return receiver(node, checker);
    const kind = role(parent) || "FIELD";
    return creates(parent, file) ? `${kind}|DEFINITION` : kind;
  }
  if (ts.isPrivateIdentifier(node)) return "FIELD";
  if (role(node)) return role(node);
  const symbol = ts.isIdentifier(node) && checker.getSymbolAtLocation(node);
  return symbol && symbol.flags & ts.SymbolFlags.EnumMember ? "FIELD" : "VARIABLE";
}

/** The kind of a part of `a.b.C` in a type or behind `typeof`. */
function qualified(node, checker) {
  let top = node;
  while (ts.isQualifiedName(top.parent)) top = top.parent;
  const isQuery = ts.isTypeQueryNode(top.parent);
  if (ts.isImportEqualsDeclaration(top.parent)) return "VARIABLE|TYPE_REFERENCE|FIELD|IMPORT";
  const isLast = node === top || (top.right === node && node.parent === top);
  if (isLast && !isQuery) return "TYPE_REFERENCE";
  if (ts.isQualifiedName(node.parent) && node.parent.right === node) return "FIELD";
  return node === top ? "VARIABLE" : receiver(node, checker);
}

/** The kind of a name in `import {…}` or `export {…}`. */
function specifier(node, parent) {
  if (node.text === "default") return "KEYWORD";
  const isFirst = parent.propertyName ? parent.propertyName === node : true;
  if (!isFirst) return "DEFINITION";
  if (ts.isImportSpecifier(parent)) return "IMPORT";
  return parent.parent.parent.moduleSpecifier ? "IMPORT" : "VARIABLE";
}

/** The kind of an identifier. */
function kindOf(node, file, checker) {
  const parent = node.parent;
  if (node.text === "this") return "KEYWORD";
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return specifier(node, parent);
  if (ts.isMetaProperty(parent)) return "KEYWORD";
  if (ts.isModuleDeclaration(parent)) return node.text === "global" && parent.flags & ts.NodeFlags.GlobalAugmentation ? "KEYWORD" : "DEFINITION";
  if (ts.isBindingElement(parent) && parent.propertyName === node) return "FIELD";
  if (ts.isShorthandPropertyAssignment(parent)) return "VARIABLE";
  if (ts.isPropertyAssignment(parent) && parent.name === node) return isTarget(parent.parent) ? "FIELD" : "DEFINITION";
  if (ts.isJsxAttribute(parent)) return node.text.startsWith("data-") ? "DEFINITION" : "ARGUMENT_NAME";
  if (ts.isJsxNamespacedName(parent)) return "DEFINITION";
  if (ts.isJsxOpeningElement(parent) || ts.isJsxSelfClosingElement(parent) || ts.isJsxClosingElement(parent))
    return /^[a-z]/.test(node.text) ? "DEFINITION" : "VARIABLE";
  if (ts.isLabeledStatement(parent)) return "DEFINITION";
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent) || ts.isTypeQueryNode(parent) || ts.isImportTypeNode(parent)
    || ts.isImportEqualsDeclaration(parent) && parent.moduleReference === node)
    return node.text === "const" && ts.isTypeReferenceNode(parent) ? "KEYWORD" : qualified(node, checker);
  if (ts.isTypePredicateNode(parent)) return "VARIABLE";
  if (ts.isNamespaceExport(parent) || ts.isNamespaceExportDeclaration(parent) || ts.isNamedTupleMember(parent) || ts.isImportAttribute?.(parent))
    return "DEFINITION";
  if (!ts.isPropertyAccessExpression(parent) && parent.name === node) return "DEFINITION";
  return value(node, file, checker);
}

function tokens(file, checker) {
  const result = [];
  const stack = [file];
  while (stack.length) {
    const node = stack.pop();
    if (node.kind >= K.FirstJSDocNode && node.kind <= K.LastJSDocNode) continue;
    const isName = ts.isIdentifier(node) || ts.isPrivateIdentifier(node);
    if (isName || (node.kind >= K.FirstKeyword && node.kind <= K.LastKeyword)) {
      const begin = node.getStart(file);
      if (node.end > begin) {
        // `constructor` is a word of this parser only: in the language, it is the name of a method.
        const kind = isName ? kindOf(node, file, checker) : node.kind === K.ConstructorKeyword ? "DEFINITION" : "KEYWORD";
        result.push([begin, file.text.slice(begin, node.end), kind]);
      }
    } else if (node.kind !== K.ImportKeyword) {
      stack.push(...node.getChildren(file));
    }
  }
  return result;
}

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const program = ts.createProgram([path], OPTIONS);
  const file = program.getSourceFile(path);
  const [trouble] = file.parseDiagnostics;
  const answer = trouble ? { error: ts.flattenDiagnosticMessageText(trouble.messageText, "\n") } : { tokens: tokens(file, program.getTypeChecker()) };
  console.log(JSON.stringify({ path, ...answer }));
}
