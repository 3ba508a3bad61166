"""The rules by which variables get their values, in the words of the pinned grammars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ci_eval.plugins.drivers.codebleu.flow import COMES, COMPUTED
from ci_eval.plugins.drivers.codebleu.trees import GRAMMARS

REST = "*"
"""The mark for all other children, in place of a field."""


@dataclass(frozen=True)
class Binding:
    """A node in which variables are given a value, by the fields of both."""

    target: str
    """The field of the variables; "" = the first child that is no punctuation."""
    value: str = ""
    """The field of the value; "" = the value comes from elsewhere."""
    how: str = COMPUTED
    grows: bool = False
    """A flag: the variable's own value goes into the new one."""
    signs: frozenset[str] = frozenset()
    """The signs of which the node has one, if other nodes have the same type."""


@dataclass(frozen=True)
class Rules:
    bindings: dict[str, Binding]
    loops: frozenset[str]
    branches: frozenset[str] = frozenset(("if_statement",))
    """The nodes with branches, which are in the fields `consequence` and `alternative`."""
    bases: dict[str, str] = field(default_factory=dict)
    """The nodes that stand for a part of a variable (`a.b`, `a[i]`) → the field of the variable."""
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The fields of a node in which no variables are, by node."""
    lists: frozenset[str] = frozenset()
    """The nodes with parts. If both sides are lists, each part of one is given the value of that part of the other."""
    parameters: frozenset[str] = frozenset()
    """The nodes whose children, if they are variables, have their value from elsewhere."""
    variables: frozenset[str] = frozenset(("identifier",))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STEP = Binding("", grows=True, signs=_words("++ --"))
_ELSEWHERE = Binding("name", how=COMES)

RULES = {
    "python": Rules(
        bindings={
            "assignment": Binding("left", "right"),
            "augmented_assignment": Binding("left", "right"),
            "named_expression": Binding("name", "value"),
            "default_parameter": Binding("name", "value", COMES),
            "typed_default_parameter": Binding("name", "value", COMES),
            "for_in_clause": Binding("left", "right"),
            "for_statement": Binding("left", "right"),
            "as_pattern": Binding("alias", REST),
        },
        loops=_words("for_statement while_statement"),
        bases={"attribute": "object", "subscript": "value"},
        hidden={
            "attribute": ("attribute",),
            "keyword_argument": ("name",),
            "assignment": ("type",),
            "typed_parameter": ("type",),
            "typed_default_parameter": ("type",),
            "function_definition": ("name", "return_type"),
        },
        lists=_words("pattern_list tuple_pattern list_pattern expression_list tuple list"),
        parameters=_words("parameters lambda_parameters typed_parameter list_splat_pattern dictionary_splat_pattern"),
    ),
    "java": Rules(
        bindings={
            "variable_declarator": Binding("name", "value", COMES),
            "resource": Binding("name", "value", COMES),
            "assignment_expression": Binding("left", "right"),
            "update_expression": _STEP,
            "enhanced_for_statement": Binding("name", "value"),
            "formal_parameter": _ELSEWHERE,
            "catch_formal_parameter": _ELSEWHERE,
            "instanceof_expression": Binding("name", "left", COMES),
        },
        loops=_words("for_statement enhanced_for_statement while_statement do_statement"),
        bases={"field_access": "object", "array_access": "array"},
        hidden={"field_access": ("field",), "method_invocation": ("name",), "method_declaration": ("name",)},
        parameters=_words("inferred_parameters lambda_expression"),
    ),
    "go": Rules(
        bindings={
            "short_var_declaration": Binding("left", "right"),
            "assignment_statement": Binding("left", "right"),
            "range_clause": Binding("left", "right"),
            "receive_statement": Binding("left", "right"),
            "type_switch_statement": Binding("alias", "value"),
            "var_spec": Binding("name", "value", COMES),
            "const_spec": Binding("name", "value", COMES),
            "inc_statement": _STEP,
            "dec_statement": _STEP,
            "parameter_declaration": _ELSEWHERE,
            "variadic_parameter_declaration": _ELSEWHERE,
        },
        loops=_words("for_statement"),
        bases={"selector_expression": "operand", "index_expression": "operand"},
        hidden={"function_declaration": ("name",)},
        lists=_words("expression_list"),
    ),
    "javascript": Rules(
        bindings={
            "variable_declarator": Binding("name", "value", COMES),
            "assignment_pattern": Binding("left", "right", COMES),
            "object_assignment_pattern": Binding("left", "right", COMES),
            "assignment_expression": Binding("left", "right"),
            "augmented_assignment_expression": Binding("left", "right"),
            "update_expression": _STEP,
            "for_in_statement": Binding("left", "right"),
            "arrow_function": Binding("parameter", how=COMES),
            "catch_clause": Binding("parameter", how=COMES),
        },
        loops=_words("for_statement for_in_statement while_statement do_statement"),
        bases={"member_expression": "object", "subscript_expression": "object"},
        hidden={"function_declaration": ("name",)},
        lists=_words("array_pattern array"),
        parameters=_words("formal_parameters rest_pattern array_pattern object_pattern pair_pattern"),
        variables=_words("identifier shorthand_property_identifier shorthand_property_identifier_pattern"),
    ),
    "csharp": Rules(
        bindings={
            "variable_declarator": Binding("", REST, COMES),
            "assignment_expression": Binding("left", "right"),
            "postfix_unary_expression": _STEP,
            "prefix_unary_expression": _STEP,
            "foreach_statement": Binding("left", "right"),
            "parameter": _ELSEWHERE,
            "catch_declaration": _ELSEWHERE,
            "declaration_expression": _ELSEWHERE,
            "declaration_pattern": _ELSEWHERE,
        },
        loops=_words("for_statement foreach_statement while_statement do_statement"),
        bases={"member_access_expression": "expression", "element_access_expression": "expression"},
        hidden={
            "member_access_expression": ("name",),
            "argument": ("name",),
            "attribute": ("name",),
            "variable_declaration": ("type",),
            "foreach_statement": ("type",),
            "parameter": ("type",),
            "object_creation_expression": ("type",),
            "array_creation_expression": ("type",),
            "cast_expression": ("type",),
            "catch_declaration": ("type",),
            "declaration_expression": ("type",),
            "declaration_pattern": ("type",),
            "local_function_statement": ("type", "name"),
            "method_declaration": ("returns", "name"),
        },
        lists=_words("tuple_expression tuple_pattern"),
        parameters=_words("lambda_expression"),
        variables=_words("identifier implicit_parameter"),
    ),
}


def strange() -> list[str]:
    """Return the words of the rules that a grammar does not have, each behind its language."""
    # With another release of a grammar, a rule would no longer apply, in silence.
    return [
        f"{language}: {word}"
        for language, rules in RULES.items()
        for word, known in _known(rules, language)
        if not known
    ]


def _known(rules: Rules, language: str) -> Iterator[tuple[str, bool]]:
    grammar = GRAMMARS[language]
    nodes = {*rules.bindings, *rules.loops, *rules.branches, *rules.bases, *rules.hidden, *rules.lists}
    yield from ((node, grammar.id_for_node_kind(node, True) is not None) for node in nodes | rules.parameters)
    fields = {name for binding in rules.bindings.values() for name in (binding.target, binding.value)} - {"", REST}
    fields |= {*rules.bases.values(), *(name for names in rules.hidden.values() for name in names)}
    yield from ((name, grammar.field_id_for_name(name) is not None) for name in fields)
    yield from ((node, grammar.id_for_node_kind(node, True) is not None) for node in rules.variables)
