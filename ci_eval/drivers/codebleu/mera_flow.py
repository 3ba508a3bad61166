"""The data flow of MERA CODE's CodeBLEU, edge for edge.

The rules are those of github.com/Pstva/code_bleu at commit 014f2e8 (`parser/DFG.py`, from Microsoft's CodeXGLUE, MIT),
with what they miss: no `:=`, `--` or `range` in Go, no plain `=` in JavaScript, no initialisers and no `foreach` in C#.
`strict_flow` has what they should be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ci_eval.drivers.codebleu.flow import COMES, COMPUTED, Edge, Entry, States, Steps, edges, merge, united
from ci_eval.drivers.codebleu.trees import Node, depth, tokens

DEEPEST = 980
"""Levels of a tree in which its recursion ends, at Python's own limit; it then finds no data flow at all."""


class Incomplete(Exception):
    """A statement at which the original fails, for want of a part or at one of a string; it then finds no data flow."""


Rule = Callable[["Flow", Node, States], States]


class Flow:
    """Goes through one tree."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """`rules`: type of node → what it does."""
        self.rules = rules
        self.entries: list[Entry] = []
        self._steps = Steps()

    def walk(self, node: Node | None, states: States) -> States:
        """Note what happens in it; what holds after it. `states` is used up."""
        self._steps.take()
        if node is None or _is_within_a_string(node):
            raise Incomplete
        if node.index >= 0:
            self._token(node, states)
            return states
        rule = self.rules.get(node.type)
        if rule:
            return rule(self, node, states)
        # Comprehensions begin with their clauses.
        clauses = [child for child in node.children if child.type == "for_in_clause"]
        return self.walk_all([*clauses, *(child for child in node.children if child not in clauses)], states)

    def walk_all(self, nodes: Sequence[Node | None], states: States) -> States:
        """One after the other."""
        for node in nodes:
            states = self.walk(node, states)
        return states

    def _token(self, token: Node, states: States) -> None:
        if token.type == token.text:
            return
        known = states.get(token.text)
        if known is not None:
            self.entries.append((token.text, token.index, COMES, [token.text], known))
            return
        if token.type == "identifier":
            states[token.text] = [token.index]
        self.entries.append((token.text, token.index, COMES, [], []))

    def names(self, node: Node | None) -> list[Node]:
        """The tokens in it that the grammar leaves open, literals too."""
        if node is None:
            raise Incomplete
        found = list(tokens(node))
        self._steps.take(len(found))
        if any(map(_is_within_a_string, found)):
            raise Incomplete
        return [token for token in found if token.is_name]

    def link(self, left: Sequence[Node], right: Sequence[Node], how: str, states: States) -> None:
        """Each of `left` comes from each of `right`."""
        for target in left:
            self.entries += [(target.text, target.index, how, [each.text], [each.index]) for each in right]
            states[target.text] = [target.index]


def _is_within_a_string(node: Node) -> bool:
    """Whether it is part of what counts as one token. Python's pairing of children gets there (`a.b = "c"`)."""
    return node.index < 0 and not node.children and node.type != "comment"


def _declared(flow: Flow, name: Node | None, value: Node | None, states: States) -> States:
    names = flow.names(name)
    if value is None:
        for each in names:
            flow.entries.append((each.text, each.index, COMES, [], []))
            states[each.text] = [each.index]
        return states
    states = flow.walk(value, states)
    flow.link(names, flow.names(value), COMES, states)
    return states


def declaration(flow: Flow, node: Node, states: States) -> States:
    """`int a = b`."""
    return _declared(flow, node.field("name"), node.field("value"), states)


def csharp_declaration(flow: Flow, node: Node, states: States) -> States:
    """The same, which takes `= b` for one node, as it was in an old grammar; now there are three."""
    value = node.children[1] if len(node.children) == 2 else None
    return _declared(flow, node.children[0], value, states)


def assignment(flow: Flow, node: Node, states: States) -> States:
    """`a = b`."""
    value = node.field("right")
    states = flow.walk(value, states)
    flow.link(flow.names(node.field("left")), flow.names(value), COMPUTED, states)
    return states


def increment(flow: Flow, node: Node, states: States) -> States:
    """`a++`."""
    names = flow.names(node)
    for target in names:
        flow.link([target], names, COMPUTED, states)
    return states


def _branching(branches: frozenset[str], *, onwards: bool, always_before: bool) -> Rule:
    """`onwards`: all that comes behind the first branch is a branch, too."""

    def rule(flow: Flow, node: Node, states: States) -> States:
        current = dict(states)
        others: list[States] = []
        for child in node.children:
            if child.type in branches or (onwards and others):
                others.append(flow.walk(child, dict(states)))
            else:
                current = flow.walk(child, current)
        complete = any("else" in child.type for child in node.children)
        return united([*others, current, *([] if complete and not always_before else [states])])

    return rule


def _counting(head: str) -> Rule:
    """`for`: what stands behind the head is done twice."""

    def rule(flow: Flow, node: Node, states: States) -> States:
        begin = len(flow.entries)
        states = flow.walk_all(node.children, states)
        place = next((place for place, child in enumerate(node.children) if child.type == head), len(node.children))
        if place < len(node.children) and (update := node.children[place].field("update")):
            states = flow.walk(update, states)
        states = flow.walk_all(node.children[place + 1 :], states)
        merge(flow.entries, begin)
        return states

    return rule


def repeated(flow: Flow, node: Node, states: States) -> States:
    """`while`: all of it is done twice."""
    begin = len(flow.entries)
    for _ in range(2):
        states = flow.walk_all(node.children, states)
    merge(flow.entries, begin)
    return states


def each_of(flow: Flow, node: Node, states: States) -> States:
    """Java's `for (A a : b)`."""
    begin = len(flow.entries)
    for _ in range(2):
        states = assignment_of(flow, node.field("name"), node.field("value"), states)
        states = flow.walk(node.field("body"), states)
    merge(flow.entries, begin)
    return states


def assignment_of(flow: Flow, name: Node | None, value: Node | None, states: States) -> States:
    """A name gets a value."""
    states = flow.walk(value, states)
    flow.link(flow.names(name), flow.names(value), COMPUTED, states)
    return states


# ------------------------------------------------------------------------------------------------------------- Python


def _listed(node: Node | None) -> list[Node]:
    if node is None:
        raise Incomplete
    return [child for child in node.children if child.type != ","]


def _python_assigned(flow: Flow, node: Node, states: States) -> States:
    """Children of both sides in pairs, where there are equally many: so those of `a.b` with those of `c + d`, too."""
    left, right = _listed(node.field("left")), _listed(node.field("right"))
    if len(left) != len(right) or not left:
        return _python_paired(flow, [node.field("left")], [node.field("right")], states)
    return _python_paired(flow, left, right, states)


def _python_paired(flow: Flow, left: Sequence[Node | None], right: Sequence[Node | None], states: States) -> States:
    states = flow.walk_all(right, states)
    for target, value in zip(left, right):  # noqa: B905  they are equally many
        sources = flow.names(value)
        for name in flow.names(target):
            entry = (name.text, name.index, COMPUTED, [s.text for s in sources], [s.index for s in sources])
            flow.entries.append(entry)
            states[name.text] = [name.index]
    return states


def python_assignment(flow: Flow, node: Node, states: States) -> States:
    """`a = b`, `a += b`; of `a: int`, nothing is noted."""
    return states if node.field("right") is None else _python_assigned(flow, node, states)


def python_clause(flow: Flow, node: Node, states: States) -> States:
    """`for a in b` of a comprehension."""
    return _python_paired(flow, [node.field("left")], [node.children[-1]], states)


def python_for(flow: Flow, node: Node, states: States) -> States:
    """`for a in b: …`, twice; the block is the last child, or is left out."""
    begin = len(flow.entries)
    for _ in range(2):
        states = _python_assigned(flow, node, states)
        if node.children[-1].type == "block":
            states = flow.walk(node.children[-1], states)
    merge(flow.entries, begin)
    return states


_ELSE = frozenset(("if_statement", "else"))
RULES: Mapping[str, Mapping[str, Rule]] = {
    "python": {
        "default_parameter": declaration,
        "assignment": python_assignment,
        "augmented_assignment": python_assignment,
        "for_in_clause": python_clause,
        "if_statement": _branching(frozenset(("elif_clause", "else_clause")), onwards=False, always_before=False),
        "for_statement": python_for,
        "while_statement": repeated,
    },
    "java": {
        "variable_declarator": declaration,
        "assignment_expression": assignment,
        "update_expression": increment,
        "if_statement": _branching(_ELSE, onwards=True, always_before=False),
        "for_statement": _counting("local_variable_declaration"),
        "enhanced_for_statement": each_of,
        "while_statement": repeated,
    },
    "csharp": {
        "variable_declarator": csharp_declaration,
        "assignment_expression": assignment,
        "postfix_unary_expression": increment,
        "if_statement": _branching(_ELSE, onwards=True, always_before=False),
        "for_statement": _counting("local_variable_declaration"),
        "while_statement": repeated,
    },
    "go": {
        "var_spec": declaration,
        "assignment_statement": assignment,
        "inc_statement": increment,
        "if_statement": _branching(_ELSE, onwards=True, always_before=True),
        "for_statement": _counting("for_clause"),
    },
    "javascript": {
        "variable_declarator": declaration,
        "assignment_pattern": assignment,
        "augmented_assignment_expression": assignment,
        "update_expression": increment,
        "if_statement": _branching(_ELSE, onwards=True, always_before=True),
        "for_statement": _counting("variable_declaration"),
        "while_statement": repeated,
    },
}


def flow_of(language: str, root: Node, text: str) -> list[Edge]:
    """The edges of a text. Raises TooMuch."""
    if depth(root) > DEEPEST:
        return []
    spell(root, text)
    flow = Flow(RULES[language])
    try:
        flow.walk(root, {})
    except Incomplete:
        return []
    return edges(flow.entries)


def spell(root: Node, text: str) -> None:
    """Number the tokens, and note their text, as the original does: bytes are taken for characters."""
    lines = text.split("\n")
    found = list(tokens(root))
    last: dict[tuple[object, object], int] = {}
    for number, token in enumerate(found):
        last[token.raw.start_point, token.raw.end_point] = number
    for token in found:
        (first, begin), (end_line, end) = token.raw.start_point, token.raw.end_point
        token.index = last[token.raw.start_point, token.raw.end_point]
        if first == end_line:
            token.text = lines[first][begin:end]
        else:
            token.text = "".join((lines[first][begin:], *lines[first + 1 : end_line], lines[end_line][:end]))
