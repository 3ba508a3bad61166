"""CodeBLEU without the faults of its implementations; docs/datasets.md lists the differences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ci_eval.plugins.drivers.codebleu import parts
from ci_eval.plugins.drivers.codebleu.parts import COMES, COMPUTED, Edge, Flow, Node, States
from ci_eval.plugins.drivers.codebleu.trees import parse

COMMENTS = frozenset(("comment", "line_comment", "block_comment", "html_comment"))
OF_A_NAME = 0.2
"""The weight of a word that is not a keyword. The weight of a keyword is 1."""


def grade(language: str, reference: str, hypothesis: str) -> dict[str, float]:
    """Return the four partial scores, their mean, and the share of readable text, from 0 to 1. Raises TooMuch."""
    reference_tree, hypothesis_tree = parse(language, reference), parse(language, hypothesis)
    parsed = readable(hypothesis_tree)
    drop_comments(reference_tree)
    drop_comments(hypothesis_tree)
    words, weights = _words(hypothesis_tree)
    expected_words, _ = _words(reference_tree)
    scores = {
        "ngram": precision(expected_words, words, {}),
        "weightedNgram": precision(expected_words, words, weights),
        "syntax": same_subtrees(reference_tree, hypothesis_tree),
    }
    flow = parts.share_edges(find_strict_edges(language, reference_tree), find_strict_edges(language, hypothesis_tree))
    # If no edge is expected, the mean of the other three scores is used, so each of them counts a third.
    scores["dataflow"] = math.fsum(scores.values()) / 3 if flow is None else flow
    return {"codebleu": math.fsum(scores.values()) / 4, **scores, "parsed": parsed}


def readable(root: Node) -> float:
    """Return the share of words outside of syntax errors, or 0 for an empty text."""
    whole = len(root.raw.text.split())
    errors = [node for node in parts.walk(root) if node.raw.is_error or node.raw.is_missing]
    inner = {id(below) for error in errors for below in parts.walk(error) if below is not error}
    wrong = sum(max(1, len(error.raw.text.split())) for error in errors if id(error) not in inner)
    return 1 - min(1.0, wrong / whole) if whole else 0.0


def drop_comments(root: Node) -> None:
    """Remove comments from the tree, and also statements that consist of a string, such as docstrings."""
    for node in parts.walk(root):
        node.children = [
            child
            for child in node.children
            if child.type not in COMMENTS
            and (child.type, [part.type for part in child.children]) != ("expression_statement", ["string"])
        ]


def _words(root: Node) -> tuple[list[str], dict[str, float]]:
    words, weights = [], {}
    for token in parts.tokens(root):
        text = token.raw.text.decode()
        if token.type not in COMMENTS and text.strip():
            words.append(text)
            # In the grammars, the type of a keyword's node is the keyword itself.
            weights[text] = 1.0 if text.isalpha() and token.type == text.lower() else OF_A_NAME
    return words, weights


def precision(expected: Sequence[str], given: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return BLEU with n-grams of up to four words, or fewer if the text is shorter. Single words are weighted."""
    if not expected and not given:
        return 1.0
    runs = parts.match_runs(given, expected, weights, most=min(4, len(given)))
    return parts.brevity(len(expected), len(given)) * runs


def same_subtrees(expected: Node, given: Node) -> float:
    """Return the F1 of common sub-trees. A repeated one counts as often as both trees have it. Names are ignored."""
    numbers: dict[tuple[str, tuple[int, ...]], int] = {}
    expected_subtrees, given_subtrees = _subtrees(expected, numbers), _subtrees(given, numbers)
    return 2 * (expected_subtrees & given_subtrees).total() / (expected_subtrees.total() + given_subtrees.total())


def _subtrees(root: Node, numbers: dict[tuple[str, tuple[int, ...]], int]) -> Counter[int]:
    """Count the sub-trees of more than one node. `numbers` holds a number for each different sub-tree, and grows."""
    number_of: dict[int, int] = {}
    counts: Counter[int] = Counter()
    # A walk yields parents first, and a sub-tree's number needs the numbers of its children.
    for node in reversed(list(parts.walk(root))):
        key = node.type, tuple(number_of[id(child)] for child in node.children)
        number_of[id(node)] = numbers.setdefault(key, len(numbers))
        if node.children or node is root:
            counts[number_of[id(node)]] += 1
    return counts


BRANCHES = "if_statement"
"""The type of the node whose fields `consequence` and `alternative` are branches."""
OTHERS = "*"
"""Stands for all other children, in place of the name of a field."""


@dataclass(frozen=True)
class Binding:
    """A description of a type of node that gives variables a value."""

    target: str
    """The field with the variables. If empty, they are in the first child that is not punctuation."""
    value: str = ""
    """The field with the value. Empty if the value is not in the node."""
    how: str = COMPUTED
    grows: bool = False
    """Whether the new value depends on the variable's old value."""
    signs: frozenset[str] = frozenset()
    """The node must have one of these operators. If empty, every node of the type is a binding."""


@dataclass(frozen=True)
class Rules:
    bindings: dict[str, Binding]
    loops: frozenset[str]
    bases: dict[str, str] = field(default_factory=dict)
    """Type of a node for a part of a variable, such as `a.b` or `a[i]` → the field with the variable `a`."""
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Type of a node → its fields that hold no variables."""
    lists: frozenset[str] = frozenset()
    """Types of lists. If both sides of an assignment are lists of equal length, their elements are paired."""
    parameters: frozenset[str] = frozenset()
    """Types of nodes whose children are parameters if they are variables."""
    variables: frozenset[str] = frozenset(("identifier",))


def _kinds(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _bind(kinds: str, binding: Binding) -> dict[str, Binding]:
    return dict.fromkeys(kinds.split(), binding)


def _hide(kinds: str, field: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(kinds.split(), (field,))


_STEP = Binding("", grows=True, signs=_kinds("++ --"))
_ELSEWHERE = Binding("name", how=COMES)

RULES = {
    "python": Rules(
        bindings={
            **_bind("assignment augmented_assignment for_in_clause for_statement", Binding("left", "right")),
            **_bind("default_parameter typed_default_parameter", Binding("name", "value", COMES)),
            "named_expression": Binding("name", "value"),
            "as_pattern": Binding("alias", OTHERS),
        },
        loops=_kinds("for_statement while_statement"),
        bases={"attribute": "object", "subscript": "value"},
        hidden={
            **_hide("assignment typed_parameter typed_default_parameter", "type"),
            "attribute": ("attribute",),
            "keyword_argument": ("name",),
            "function_definition": ("name", "return_type"),
        },
        lists=_kinds("pattern_list tuple_pattern list_pattern expression_list tuple list"),
        parameters=_kinds("parameters lambda_parameters typed_parameter list_splat_pattern dictionary_splat_pattern"),
    ),
    "java": Rules(
        bindings={
            **_bind("variable_declarator resource", Binding("name", "value", COMES)),
            **_bind("formal_parameter catch_formal_parameter", _ELSEWHERE),
            "assignment_expression": Binding("left", "right"),
            "update_expression": _STEP,
            "enhanced_for_statement": Binding("name", "value"),
            "instanceof_expression": Binding("name", "left", COMES),
        },
        loops=_kinds("for_statement enhanced_for_statement while_statement do_statement"),
        bases={"field_access": "object", "array_access": "array"},
        hidden={"field_access": ("field",), **_hide("method_invocation method_declaration", "name")},
        parameters=_kinds("inferred_parameters lambda_expression"),
    ),
    "go": Rules(
        bindings={
            **_bind(
                "short_var_declaration assignment_statement range_clause receive_statement", Binding("left", "right")
            ),
            **_bind("var_spec const_spec", Binding("name", "value", COMES)),
            **_bind("inc_statement dec_statement", _STEP),
            **_bind("parameter_declaration variadic_parameter_declaration", _ELSEWHERE),
            "type_switch_statement": Binding("alias", "value"),
        },
        loops=_kinds("for_statement"),
        bases={"selector_expression": "operand", "index_expression": "operand"},
        hidden={"function_declaration": ("name",)},
        lists=_kinds("expression_list"),
    ),
    "javascript": Rules(
        bindings={
            **_bind("assignment_expression augmented_assignment_expression for_in_statement", Binding("left", "right")),
            **_bind("assignment_pattern object_assignment_pattern", Binding("left", "right", COMES)),
            **_bind("arrow_function catch_clause", Binding("parameter", how=COMES)),
            "variable_declarator": Binding("name", "value", COMES),
            "update_expression": _STEP,
        },
        loops=_kinds("for_statement for_in_statement while_statement do_statement"),
        bases={"member_expression": "object", "subscript_expression": "object"},
        hidden={"function_declaration": ("name",)},
        lists=_kinds("array_pattern array"),
        parameters=_kinds("formal_parameters rest_pattern array_pattern object_pattern pair_pattern"),
        variables=_kinds("identifier shorthand_property_identifier shorthand_property_identifier_pattern"),
    ),
    "csharp": Rules(
        bindings={
            **_bind("assignment_expression foreach_statement", Binding("left", "right")),
            **_bind("postfix_unary_expression prefix_unary_expression", _STEP),
            **_bind("parameter catch_declaration declaration_expression declaration_pattern", _ELSEWHERE),
            "variable_declarator": Binding("", OTHERS, COMES),
        },
        loops=_kinds("for_statement foreach_statement while_statement do_statement"),
        bases={"member_access_expression": "expression", "element_access_expression": "expression"},
        hidden={
            **_hide("member_access_expression argument attribute", "name"),
            **_hide("variable_declaration foreach_statement parameter catch_declaration cast_expression", "type"),
            **_hide("object_creation_expression array_creation_expression", "type"),
            **_hide("declaration_expression declaration_pattern", "type"),
            "local_function_statement": ("type", "name"),
            "method_declaration": ("returns", "name"),
        },
        lists=_kinds("tuple_expression tuple_pattern"),
        parameters=_kinds("lambda_expression"),
        variables=_kinds("identifier implicit_parameter"),
    ),
}


class StrictFlow(Flow):
    """A walk by rules that visits each node once.

    A variable is a name that gets a value in the text: by an assignment or declaration, as a parameter or as a counter.
    Names of functions, types, members and globals are not variables. A variable that is read comes from itself. A
    variable that gets a value comes from the variables in this value. Inside a loop, a variable has a value if any turn
    of the loop gives it one. A branch does not see values that another branch gives.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules

    def walk(self, node: Node, states: States) -> States:
        self.take()
        if self._is_variable(node):
            known = states.get(node.text)
            if known:
                self.entries.append((node.text, node.index, COMES, [node.text], known))
            return states
        if node.type in self.rules.loops:
            # A turn of the loop sees the values that earlier turns have given.
            states = parts.join_states([states, self._bound_within(node)])
        if node.type == BRANCHES:
            branches = node.fields("consequence", "alternative")
            states = self.walk_all((child for child in node.children if child not in branches), states)
            return parts.join_states([states, *[self.walk(branch, dict(states)) for branch in branches]])
        binding = self._binding(node)
        if binding:
            return self._bind(node, binding, states)
        seen = self._visible_children(node)
        if node.type in self.rules.parameters:
            for child in filter(self._is_variable, seen):
                self._give(child, [], COMES, states)
            seen = [child for child in seen if not self._is_variable(child)]
        return self.walk_all(seen, states)

    def _is_variable(self, node: Node) -> bool:
        return node.type in self.rules.variables

    def _visible_children(self, node: Node) -> list[Node]:
        names = self.rules.hidden.get(node.type)
        hidden = node.fields(*names) if names else ()
        return [child for child in node.children if child not in hidden]

    def _binding(self, node: Node) -> Binding | None:
        binding = self.rules.bindings.get(node.type)
        if binding and binding.signs and not any(child.type in binding.signs for child in node.children):
            return None
        return binding

    def _sides(self, node: Node, binding: Binding) -> tuple[list[Node], list[Node]]:
        named = [child for child in self._visible_children(node) if child.raw.is_named]
        targets = node.fields(binding.target) if binding.target else named[:1]
        if binding.value == OTHERS:
            return targets, [child for child in named if child not in targets]
        return targets, node.fields(binding.value) if binding.value else []

    def _bind(self, node: Node, binding: Binding, states: States) -> States:
        targets, values = self._sides(node, binding)
        remaining = [child for child in self._visible_children(node) if child not in targets and child not in values]
        states = self.walk_all(values, states)
        signs = [child.type for child in remaining]
        grows = binding.grows or any(len(sign) > 1 and sign.endswith("=") and sign != ":=" for sign in signs)
        pairs: list[tuple[Sequence[Node], Sequence[Node]]] = [(targets, values)]
        if len(left_parts := self._parts(targets)) == len(right_parts := self._parts(values)):
            pairs = [([target], [value]) for target, value in zip(left_parts, right_parts)]  # noqa: B905  equally many
        for left, right in pairs:
            states = self.walk_all([read for target in left for read in self._aside(target)], states)
            names = [name for value in right for name in self._names(value)]
            for target, whole in [pair for assigned in left for pair in self._targets(assigned)]:
                own = [] if whole and not grows else [target.text]
                self._give(target, [*own, *names], binding.how, states)
        return self.walk_all(remaining, states)

    def _give(self, target: Node, names: Iterable[str], how: str, states: States) -> None:
        known = [name for name in parts.unique(names) if name in states]
        positions = [position for name in known for position in states[name]]
        self.entries.append((target.text, target.index, how, known, positions))
        states[target.text] = [target.index]

    def _names(self, node: Node) -> Iterator[str]:
        if self._is_variable(node):
            yield node.text
        for child in self._visible_children(node):
            yield from self._names(child)

    def _parts(self, nodes: Sequence[Node]) -> Sequence[Node]:
        if len(nodes) == 1 and nodes[0].type in self.rules.lists:
            return [child for child in nodes[0].children if child.raw.is_named]
        return nodes

    def _targets(self, node: Node) -> Iterator[tuple[Node, bool]]:
        """Yield each variable that gets a value, and whether its old value is wholly replaced."""
        binding = self._binding(node)
        if self._is_variable(node):
            yield node, True
        elif node.type in self.rules.bases:
            for base in node.fields(self.rules.bases[node.type]):
                yield from ((target, False) for target, _ in self._targets(base))
        else:
            for child in self._sides(node, binding)[0] if binding else self._visible_children(node):
                yield from self._targets(child)

    def _aside(self, node: Node) -> Iterator[Node]:
        """Yield the nodes on the left side of an assignment that are read, such as indices and default values."""
        bases = node.fields(self.rules.bases[node.type]) if node.type in self.rules.bases else None
        binding = self._binding(node)
        values = self._sides(node, binding)[1] if binding else []
        for child in self._visible_children(node):
            if child in values or (bases is not None and child not in bases):
                yield child
            else:
                yield from self._aside(child)

    def _bound_within(self, node: Node) -> States:
        positions: States = {}
        for descendant in parts.walk(node):
            self.take()
            if binding := self._binding(descendant):
                for target in self._sides(descendant, binding)[0]:
                    for token, _ in self._targets(target):
                        positions.setdefault(token.text, []).append(token.index)
        return positions


def find_strict_edges(language: str, root: Node) -> list[Edge]:
    for number, token in enumerate(parts.tokens(root)):
        token.index, token.text = number, token.raw.text.decode()
    flow = StrictFlow(RULES[language])
    flow.walk(root, {})
    return parts.edges(flow.entries)
