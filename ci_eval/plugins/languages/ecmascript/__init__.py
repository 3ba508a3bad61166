"""The languages JavaScript and TypeScript: definitions (imports, functions, classes, variables, patterns) and types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import PurePosixPath

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import Repair, outside, replace_groups, spaces
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, Origin
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.ecmascript.imports import SYNTAX, imports
from ci_eval.plugins.languages.ecmascript.references import (
    ASSIGNED,
    FROM,
    KEYWORDS,
    NAME,
    EcmaScope,
    EcmaWalk,
    This,
    declare,
    ecma_scope,
    guess_holder,
)

_COMMENTS = rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)"
_NAME = rb"(?!(?:in|of|instanceof|as|satisfies)\b)[A-Za-z_$][\w$]*"
_LITERALS = rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|`(?:\\.|[^`\\])*(?:`|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
# Match a line comment with its line end. If the line end were replaced, the comment would include the next line.
_LITERALS_AND_LINES = _LITERALS.replace(rb"//[^\n]*", rb"//[^\n]*\n?", 1)

SHARED = (
    # TypeScript's grammar parses `using` as a name. `const` defines the same names, so it replaces `using`.
    Repair(
        outside(
            rb"(?<![.\w$])(?:(?P<k1>await)[ \t]+)?(?P<k2>using)(?=[ \t]+" + _NAME + rb"\s*(?:=[^=]|:|of\b))", _LITERALS
        ),
        lambda m: replace_groups(m, k1=b"", k2=b"const"),
        always=True,
        trigger=re.compile(rb"using[ \t]+[A-Za-z_$][\w$]*\s*(?:=[^=]|:|of\b)"),
    ),
    # The grammars support `with`, but not `assert`, the earlier keyword of import attributes. Both are blanked.
    Repair(
        outside(
            rb"^[ \t]*(?:import|export)\b[^;'\"`]{0,2000}(?:\"[^\"\n]*\"|'[^'\n]*')"
            rb"(?P<with>[ \t]*(?P<k>with|assert)\s*\{[^{}]*\})",
            _COMMENTS,
        )
    ),
    # The grammars are older than `import defer` and `import source`.
    Repair(outside(rb"^[ \t]*import[ \t]+(?P<k>defer|source)(?=[ \t]+(?!from\b)[*\w])", _LITERALS)),
    Repair(outside(rb"(?<=\bimport)\.(?P<k>defer|source)(?=\()", _LITERALS), spaces),
    # The grammars do not support `accessor`.
    Repair(outside(rb"\b(?P<k>accessor)(?=[ \t]+[#\w])", _LITERALS)),
)
"""The repairs that both languages need."""

JAVASCRIPT = (
    *SHARED,
    # An exported name may be a keyword, which the grammar rejects, so it is replaced by a plain name.
    Repair(
        outside(rb"(?<=\bas)(?P<name>[ \t]+(?!default\b)[a-z]+)(?=[ \t\n]*[,}])", _LITERALS),
        lambda m: b" " + b"x" * (len(m["name"]) - 1),
    ),
)

TYPESCRIPT = (
    *SHARED,
    # A default-exported function without a name gets the name `a`.
    Repair(
        outside(rb"\b(?P<k1>default)[ \t]+(?P<k2>function)[ \t]+(?=\()", _LITERALS),
        lambda m: b"function a".rjust(len(m[0])),
    ),
    # The grammars do not support `in` and `out` before the type parameters of interfaces.
    Repair(
        outside(
            rb"(?<=[<,])\s*(?:const\s+)?(?:(?P<k1>in)\s+)?(?:(?P<k2>out)\s+)?(?=[A-Z_]\w*\s*(?:[,>=]|extends\b))",
            _LITERALS,
        )
    ),
    # Without a semicolon after a type, the grammar parses `<T>` on the next line as arguments of the type.
    Repair(
        outside(
            rb"(?<=[\w\])>}])(?P<end>[ \t]*\n)(?=(?:\s*(?:/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)){0,5}\s*<[A-Z][^\n]*)",
            _LITERALS_AND_LINES,
        ),
        lambda m: replace_groups(m, end=b";"),
    ),
)

_FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_signature function_expression function "
    "generator_function arrow_function method_definition".split()
)
_CLASSES = ("class_declaration", "abstract_class_declaration")
_MODULES = ("internal_module", "module")
_TYPES = ("interface_declaration", "type_alias_declaration", "enum_declaration")
_NAMED = {
    **dict.fromkeys(["function_declaration", "generator_function_declaration", "function_signature"], ""),
    **dict.fromkeys([*_CLASSES, *_TYPES], "class"),
    **dict.fromkeys(_MODULES, "module"),
}
"""Node type of a declaration → `Origin.holder` of the declared name."""
_PATTERNS = frozenset(["object_pattern", "array_pattern"])
_FIELDS = frozenset(["field_definition", "public_field_definition", "method_definition", "abstract_method_signature"])


class EcmaDefinitions(EcmaWalk):
    """The handlers of nodes that define names. A name is known in its whole scope, even before its declaration."""

    roles = {
        REFERENCE: "pair augmented_assignment_expression",
        # A base class counts as a type even if it is a variable.
        TYPE: "class_heritage extends_clause",
    }

    @handle_nodes("program", "statement_block", "class_static_block", "switch_body")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        if node.type != "program":
            scope = scope.below("block")
        children = node.children
        self._hoist(children, scope)
        self.in_order(children, NodePlace(scope, place.argument))

    def _hoist(self, nodes: Sequence[Node], scope: EcmaScope) -> None:
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            kind = node.type
            # The grammar parses TypeScript's `namespace X {…}` as an expression.
            if kind in {"export_statement", "ambient_declaration", "expression_statement"}:
                stack += [
                    child for child in node.children if child.type in _NAMED or child.type.endswith("_declaration")
                ]
            elif kind == "import_statement":
                self._hoist_import(node, scope)
            elif kind in {"lexical_declaration", "variable_declaration"}:
                self._hoist_variables(node, scope)
            elif kind in _NAMED:
                name = node.child_by_field_name("name")
                origin = Origin(scope.plain.static or None, scope.plain.package, _NAMED[kind])
                self.define(None if name is None or name.child_count else name, scope, origin)

    def _hoist_variables(self, node: Node, scope: EcmaScope) -> None:
        for declarator in node.children:
            name = declarator.child_by_field_name("name") if declarator.type == "variable_declarator" else None
            if name is not None and name.type == "identifier":
                package = self._declarator_module(declarator)
                self.define(name, scope, Origin(True, package, "module") if package else scope.plain)

    @handle_nodes("lexical_declaration")
    def lexical(self, node: Node, _role: str, place: NodePlace) -> None:
        # Names in blocks are already hoisted. This defines the names of a `let` or `const` in the header of a loop.
        self._hoist_variables(node, ecma_scope(place))
        self.push(node.children, REFERENCE, place)

    def _declarator_module(self, declarator: Node) -> str | None:
        value = declarator.child_by_field_name("value")
        return self._required_module(value) if value is not None and value.type == "call_expression" else None

    def _source(self, node: Node) -> str | None:
        strings = [child for child in node.children if child.type == "string"]
        return self.modules.resolve(self.text(strings[-1])[1:-1]) if strings else None

    def _hoist_import(self, node: Node, scope: EcmaScope) -> None:
        package = self._source(node)
        for clause in node.children:
            if clause.type == "import_require_clause":
                self.define(clause.children[0], scope, Origin(True, self._source(clause), "module"))
            for child in clause.children if clause.type == "import_clause" else ():
                if child.type == "namespace_import":
                    self.define(child.children[-1], scope, Origin(True, package, "module"))
                named = child.children if child.type == "named_imports" else [child]
                for part in named:
                    if part.type in {"identifier", "import_specifier"}:
                        name = self.text(part.children[-1] if part.child_count else part)
                        scope.names[name] = Origin(True, package, guess_holder(name))

    @handle_nodes("import_statement")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        origin = Origin(True, self._source(node))
        for child in node.children:
            if child.type == "import_clause":
                for part in child.children:
                    for specifier in part.children if part.type == "named_imports" else ():
                        self._specifier(specifier, origin, place)
                    if part.type == "namespace_import":
                        self.push([leaf for leaf in part.children if leaf.type in self.keywords], REFERENCE, place)
            elif child.type in {"import_attribute", "import_require_clause"}:
                self.push([leaf for leaf in child.children if leaf.type in self.keywords], REFERENCE, place)
            else:
                self.push([child], REFERENCE, place)

    def _specifier(self, node: Node, origin: Origin | None, place: NodePlace) -> None:
        """Emit the first name of `a as b`, which belongs to the module. `b` is a new name and not a token."""
        # Either name may be a string.
        is_first = True
        for child in node.children:
            # TypeScript's grammar parses `default` as a name here.
            if child.type in self.keywords or self.text(child) == "default":
                self.emit(child, Kind.KEYWORD, place)
            elif child.type in {"identifier", "type_identifier"} and is_first:
                if origin is not None:
                    self.emit(child, Kind.IMPORT, place, origin)
                else:
                    self.name(child, REFERENCE, place)
            is_first = is_first and child.type not in {"identifier", "type_identifier", "string", "default"}

    @handle_nodes("export_statement")
    def export(self, node: Node, _role: str, place: NodePlace) -> None:
        package = self._source(node) if not node.child_by_field_name("declaration") else None
        # `export as namespace X` defines X.
        defines = any(child.type == "namespace" for child in node.children)
        for child in reversed(node.children):
            if child.type == "export_clause":
                for specifier in child.children:
                    self._specifier(specifier, Origin(True, package) if package else None, place)
            elif child.type == "namespace_export":
                self.push([leaf for leaf in child.children if leaf.type in self.keywords], REFERENCE, place)
            elif child.type != "identifier" or not defines:
                self.push([child], REFERENCE, place)

    @handle_nodes(*_FUNCTIONS)
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        is_static = node.type == "method_definition" and any(child.type == "static" for child in node.children)
        inner = scope.below("function")
        inner.static = scope.static or is_static
        inner.plain = LOCAL
        name = node.child_by_field_name("name")
        if node.type in {"function_expression", "function", "generator_function"}:
            # The name of a function expression is known only inside the function.
            self.define(name, inner)
        self._signature(node.children, name, NodePlace(inner, False))

    def _signature(self, nodes: Sequence[Node], name: Node | None, inner: NodePlace) -> None:
        visited = []
        for child, after in zip_longest(nodes, nodes[1:]):
            # The single parameter of an arrow function may have no parentheses.
            is_single = child.type == "identifier" and after is not None and after.type == "=>"
            role = BOUND if is_single or child.type == "formal_parameters" else REFERENCE
            if child != name or child.type == "computed_property_name":
                visited.append((child, role, inner))
        self.each(visited)

    @handle_nodes("variable_declarator")
    def variable(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        package = self._declarator_module(node)
        self.push(siblings, REFERENCE, place)
        if name.type in _PATTERNS:
            self._stack.append((name, FROM + package if package else BOUND, place))
        elif name.type == "identifier" and self.text(name) not in place.scope.names:
            scope = ecma_scope(place).find_var_scope()
            scope.names[self.text(name)] = Origin(True, package, "module") if package else scope.plain

    @handle_nodes("assignment_pattern", "object_assignment_pattern")
    def default(self, node: Node, role: str, place: NodePlace) -> None:
        target, *value = node.children
        self.push(value, REFERENCE, place)
        self.push([target], role, place)

    @handle_nodes("pair_pattern")
    def pair_pattern(self, node: Node, role: str, place: NodePlace) -> None:
        key, *value = node.children
        if key.type == "property_identifier":
            package = role.removeprefix(FROM) if role.startswith(FROM) else None
            self.emit(key, Kind.FIELD, place, Origin(True if package else None, package))
        elif key.child_count:
            self.push([key], REFERENCE, place)
        self.push(value, role, place)

    @handle_nodes("assignment_expression")
    def assignment(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[1:], REFERENCE, place)
        self.push(node.children[:1], ASSIGNED, place)

    @handle_nodes("for_in_statement", "for_statement", "catch_clause")
    def loop(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(ecma_scope(place).below("block"), place.argument)
        children = node.children
        binds = node.type == "catch_clause" or any(child.type in {"const", "let", "var"} for child in children)
        left = node.child_by_field_name("left" if node.type == "for_in_statement" else "parameter")
        self.each([(child, BOUND if binds and child == left else REFERENCE, inner) for child in children])

    @handle_nodes(*_CLASSES, "class")
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        name = node.child_by_field_name("name")
        around = scope.below("class")
        # The name of a class expression is known only inside the class.
        if node.type == "class":
            self.define(name, around, Origin(None, scope.plain.package, "class"))
        elif name is not None and self.text(name) not in scope.names:
            self.define(name, scope, Origin(scope.plain.static or None, scope.plain.package, "class"))
        for child in reversed(node.children):
            if child.type == "class_body":
                self._stack.append((child, REFERENCE, NodePlace(self._members(child, around), False)))
            elif child != name:
                role = TYPE if child.type == "class_heritage" else REFERENCE
                self.push([child], role, NodePlace(around, place.argument))

    def _members(self, body: Node, around: EcmaScope) -> EcmaScope:
        this = This(grows=bool(self.grows))
        scope = around.below("class", this)
        # Members are known in the whole class, so collect them before the body is visited.
        for member in body.children:
            if member.type in _FIELDS:
                name = member.child_by_field_name("name") or member.child_by_field_name("property")
                if name is not None and not name.child_count:
                    text = self.text(name)
                    this.members.add(text)
                    # Private names are looked up in scopes because code outside of the class cannot use them.
                    if text.startswith("#"):
                        static = any(child.type == "static" for child in member.children)
                        scope.names[text] = Origin(static, self.package)
        return scope

    @handle_nodes("field_definition", "public_field_definition")
    def field(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        scope = ecma_scope(place).below("function")
        scope.static = scope.static or any(child.type == "static" for child in node.children)
        others = [child for child in node.children if child != name or child.child_count]
        self.in_order(others, NodePlace(scope, False))


_STATEMENTS = ("expression_statement", "return_statement", "throw_statement", "if_statement", "break_statement")
_HEADS = ("if_statement", "for_statement", "for_in_statement", "while_statement", "else_clause")

SHAPE = Shape(
    lists=frozenset("program class_body interface_body object_type enum_body internal_module_body".split())
    | {"internal_module statement_block", "module statement_block"},
    bodies=frozenset(f"{function} statement_block" for function in _FUNCTIONS),
    closers=frozenset([")", "]", "}", ";", "`", "type_arguments >", "type_parameters >", "switch_case :"])
    | {'string "', "string '", "switch_default :"},
    stand_ins={
        **dict.fromkeys("statement_block class_body switch_body interface_body enum_body".split(), "{}"),
        # A `try` without `catch` is a syntax error; `finally {}` is the shortest valid end.
        "try_statement catch_clause": " finally {}",
        **{f"{head} {statement}": ";" for head in _HEADS for statement in _STATEMENTS},
    },
)


class JavaScriptWalk(EcmaDefinitions):
    """A walk over JavaScript, where an assignment can add a member to an object."""

    # TypeScript classes declare their members, so only JavaScript sets `grows`.
    grows = frozenset(["exports", "class", "function", "object", ""])


def extract_javascript(text: str, path: str, declared: Declarations) -> Extraction:
    return extract_tokens(JavaScriptWalk(text.encode(), path, declared), "javascript", JAVASCRIPT)


_JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript",
    dependencies="node",
    grammars=dict.fromkeys([".js", ".mjs", ".cjs", ".jsx"], "javascript"),
    keywords=KEYWORDS,
    extract=extract_javascript,
    declare=declare,
    shape=SHAPE,
    word=NAME,
    imports=imports,
    import_syntax=SYNTAX,
)


_UNLISTED = "bigint intrinsic out undefined unique".split()
_TYPESCRIPT_KEYWORDS = KEYWORDS.union(read_keywords("typescript"), _UNLISTED) - {"assert"}
_GRAMMARS = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}


class TypeScriptWalk(EcmaDefinitions):
    keywords = _TYPESCRIPT_KEYWORDS - {"string", "number", "undefined"} | {"this_type"}
    # The names that `infer` defines in a condition are known in the branches.
    sequences = "conditional_type"

    roles = {
        REFERENCE: "type_predicate asserts as_expression satisfies_expression type_query",
        TYPE: "implements_clause extends_type_clause type_arguments",
    }

    @handle_nodes("predefined_type")
    def keyword_type(self, node: Node, _role: str, place: NodePlace) -> None:
        # Emit `string` or `any` as one keyword. `unique symbol` is a single node, but two keywords.
        for word in re.finditer(r"\w+", self.text(node)):
            self.emit(node, Kind.KEYWORD, place, text=word[0], skip=word.start())

    @handle_nodes("literal_type")
    def literal_type(self, node: Node, _role: str, place: NodePlace) -> None:
        leaf = node.children[0]
        if leaf.type == "undefined":
            self.emit(leaf, Kind.KEYWORD, place)
        else:
            self.push(node.children, REFERENCE, place)

    def type_name(self, node: Node, name: str, place: NodePlace) -> None:
        # The grammar parses the keyword `bigint` as a name.
        if name == "bigint":
            self.emit(node, Kind.KEYWORD, place)
        else:
            super().type_name(node, name, place)

    @handle_nodes("required_parameter", "optional_parameter")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        # Elements of tuples have the field `name` instead of `pattern`.
        pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        for child in reversed(node.children):
            self.push([child], BOUND if child == pattern else REFERENCE, place)

    @handle_nodes(
        *"function_type constructor_type call_signature construct_signature method_signature index_signature".split(),
        "abstract_method_signature",
        "property_signature",
    )
    def signature(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a signature. Its parameters are known only inside it."""
        inner = NodePlace(ecma_scope(place).below("function"), False)
        self._signature(node.children, node.child_by_field_name("name"), inner)

    @handle_nodes(*_TYPES, *_MODULES)
    def declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        name = node.child_by_field_name("name")
        if node.type in _MODULES and name is not None:
            package = f"{scope.package}.{self.text(name)}"
            inner = EcmaScope("namespace", scope, package=package, plain=Origin(True, package))
        else:
            inner = scope.below("type")
        # The constants of an enum may refer to each other without a prefix.
        if node.type == "enum_declaration":
            for child in node.children[-1].children:
                member = child.children[0] if child.child_count else child
                if member.type == "property_identifier":
                    self.define(member, inner, Origin(True, scope.package, "field"))
        role = TYPE if node.type == "type_alias_declaration" else REFERENCE
        self.each([(child, role, NodePlace(inner, False)) for child in node.children if child != name])

    @handle_nodes("import_alias")
    def import_alias(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `import a = b.c`, which defines a."""
        word, name, *path = node.children
        self.define(name, place.scope, Origin(True, self.package, "module"))
        self.push([word, *path], REFERENCE, place)

    @handle_nodes("binary_expression")
    def binary(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit two operands, or ``tag<T>`text` ``, which the grammar parses as two comparisons."""
        left, *_, right = node.children
        if right.type == "template_string" and [child.type for child in left.children[1:2]] == ["<"]:
            self.push([right], REFERENCE, place)
            self.push(left.children[2:], TYPE, place)
            self.push(left.children[:1], CALLED, place)
        else:
            super().binary(node, role, place)

    @handle_nodes("type_parameter", "mapped_type_clause", "infer_type")
    def type_parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name = next((child for child in node.children if child.type == "type_identifier"), None)
        self.define(name, place.scope, LOCAL_TYPE)
        self.push([child for child in node.children if child != name], TYPE, place)


def extract_typescript(text: str, path: str, declared: Declarations) -> Extraction:
    grammar = _GRAMMARS.get(PurePosixPath(path).suffix, "typescript")
    return extract_tokens(TypeScriptWalk(text.encode(), path, declared), grammar, TYPESCRIPT)


_TYPESCRIPT = Language(
    name="typescript",
    title="TypeScript",
    dependencies="node",
    grammars=_GRAMMARS,
    keywords=_TYPESCRIPT_KEYWORDS,
    extract=extract_typescript,
    declare=declare,
    shape=SHAPE,
    word=NAME,
    imports=imports,
    import_syntax=SYNTAX,
)

LANGUAGES = {"javascript": _JAVASCRIPT, "typescript": _TYPESCRIPT}
