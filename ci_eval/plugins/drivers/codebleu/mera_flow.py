"""The data flow of MERA CODE's CodeBLEU, edge for edge.

The rules are those of github.com/Pstva/code_bleu at commit 014f2e8 (`parser/DFG.py`, from Microsoft's CodeXGLUE, MIT),
with what they miss: no `:=`, `--` or `range` in Go, no plain `=` in JavaScript, no initialisers and no `foreach` in C#.
The module `strict_flow` has what they should be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ci_eval.plugins.drivers.codebleu.flow import COMES, COMPUTED, Edge, Entry, States, Steps, edges, join_states, merge
from ci_eval.plugins.drivers.codebleu.trees import Node, depth, tokens

DEEPEST = 980
"""The levels of a tree at which the original's recursion ends, at Python's own limit; it then finds no data flow at
all."""


class Incomplete(Exception):
    """A statement at which the original fails, because a part is missing or is one of a string. It then finds no data
    flow."""


Rule = Callable[["Flow", Node, States], States]


class Flow:
    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """Start a walk by rules: the type of a node → what it does."""
        self.rules = rules
        self.entries: list[Entry] = []
        self._steps = Steps()

    def walk(self, node: Node | None, states: States) -> States:
        """Note what happens in a node, and return the states after it. `states` is used up. Raises Incomplete."""
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
        """Return the tokens of a node that the grammar leaves open, literals included. Raises Incomplete."""
        if node is None:
            raise Incomplete
        all_tokens = list(tokens(node))
        self._steps.take(len(all_tokens))
        if any(map(_is_within_a_string, all_tokens)):
            raise Incomplete
        return [token for token in all_tokens if token.is_name]

    def link(self, left: Sequence[Node], right: Sequence[Node], how: str, states: States) -> None:
        """Note that each of `left` comes from each of `right`."""
        for target in left:
            self.entries += [(target.text, target.index, how, [source.text], [source.index]) for source in right]
            states[target.text] = [target.index]


def _is_within_a_string(node: Node) -> bool:
    """Return whether a node is part of what counts as one token."""
    # The original's pairing of Python's children gets there (`a.b = "c"`).
    return node.index < 0 and not node.children and node.type != "comment"


def _declare(flow: Flow, name: Node | None, value: Node | None, states: States) -> States:
    names = flow.names(name)
    if value is None:
        for variable in names:
            flow.entries.append((variable.text, variable.index, COMES, [], []))
            states[variable.text] = [variable.index]
        return states
    states = flow.walk(value, states)
    flow.link(names, flow.names(value), COMES, states)
    return states


def declaration(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow of `int a = b`."""
    return _declare(flow, node.field("name"), node.field("value"), states)


def csharp_declaration(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow of C#'s `int a = b`."""
    # The original takes `= b` for one node, as it was in an old grammar; now there are three.
    value = node.children[1] if len(node.children) == 2 else None
    return _declare(flow, node.children[0], value, states)


def assignment(flow: Flow, node: Node, states: States) -> States:
    return note_assignment(flow, node.field("left"), node.field("right"), states)


def increment(flow: Flow, node: Node, states: States) -> States:
    names = flow.names(node)
    for target in names:
        flow.link([target], names, COMPUTED, states)
    return states


def _branching(branches: frozenset[str], *, onwards: bool, always_before: bool) -> Rule:
    """Return the rule for branches. `onwards`: all children behind the first branch are branches, too."""

    def rule(flow: Flow, node: Node, states: States) -> States:
        current = dict(states)
        branch_states: list[States] = []
        for child in node.children:
            if child.type in branches or (onwards and branch_states):
                branch_states.append(flow.walk(child, dict(states)))
            else:
                current = flow.walk(child, current)
        complete = any("else" in child.type for child in node.children)
        return join_states([*branch_states, current, *([] if complete and not always_before else [states])])

    return rule


def _counting(head: str) -> Rule:
    """Return the rule for `for`, which does what follows the head twice."""

    def rule(flow: Flow, node: Node, states: States) -> States:
        begin = len(flow.entries)
        states = flow.walk_all(node.children, states)
        position = next(
            (position for position, child in enumerate(node.children) if child.type == head), len(node.children)
        )
        if position < len(node.children) and (update := node.children[position].field("update")):
            states = flow.walk(update, states)
        states = flow.walk_all(node.children[position + 1 :], states)
        merge(flow.entries, begin)
        return states

    return rule


def _twice(turn: Rule) -> Rule:
    """Return the rule for a loop, of which two turns are noted."""

    def rule(flow: Flow, node: Node, states: States) -> States:
        begin = len(flow.entries)
        for _ in range(2):
            states = turn(flow, node, states)
        merge(flow.entries, begin)
        return states

    return rule


def java_foreach(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow of Java's `for (A a : b)`."""
    states = note_assignment(flow, node.field("name"), node.field("value"), states)
    return flow.walk(node.field("body"), states)


def note_assignment(flow: Flow, name: Node | None, value: Node | None, states: States) -> States:
    states = flow.walk(value, states)
    flow.link(flow.names(name), flow.names(value), COMPUTED, states)
    return states


# ------------------------------------------------------------------------------------------------------------- Python


def _list_children(node: Node | None) -> list[Node]:
    if node is None:
        raise Incomplete
    return [child for child in node.children if child.type != ","]


def _python_assign(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow from the children of the right side to those of the left one."""
    # Children of both sides are paired if they are equally many: so those of `a.b` with those of `c + d`, too.
    left, right = _list_children(node.field("left")), _list_children(node.field("right"))
    if len(left) != len(right) or not left:
        return _python_pair(flow, [node.field("left")], [node.field("right")], states)
    return _python_pair(flow, left, right, states)


def _python_pair(flow: Flow, left: Sequence[Node | None], right: Sequence[Node | None], states: States) -> States:
    states = flow.walk_all(right, states)
    for target, value in zip(left, right):  # noqa: B905  they are equally many
        sources = flow.names(value)
        for name in flow.names(target):
            entry = (name.text, name.index, COMPUTED, [s.text for s in sources], [s.index for s in sources])
            flow.entries.append(entry)
            states[name.text] = [name.index]
    return states


def python_assignment(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow of `a = b` and `a += b`. Nothing is noted for `a: int`."""
    return states if node.field("right") is None else _python_assign(flow, node, states)


def python_clause(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow of `for a in b` in a comprehension."""
    return _python_pair(flow, [node.field("left")], [node.children[-1]], states)


def python_loop(flow: Flow, node: Node, states: States) -> States:
    """Note the data flow of `for a in b: …`."""
    states = _python_assign(flow, node, states)
    # A block that is not the last child is left out.
    return flow.walk(node.children[-1], states) if node.children[-1].type == "block" else states


WHILE = _twice(lambda flow, node, states: flow.walk_all(node.children, states))
_ELSE = frozenset(("if_statement", "else"))
RULES: Mapping[str, Mapping[str, Rule]] = {
    "python": {
        "default_parameter": declaration,
        "assignment": python_assignment,
        "augmented_assignment": python_assignment,
        "for_in_clause": python_clause,
        "if_statement": _branching(frozenset(("elif_clause", "else_clause")), onwards=False, always_before=False),
        "for_statement": _twice(python_loop),
        "while_statement": WHILE,
    },
    "java": {
        "variable_declarator": declaration,
        "assignment_expression": assignment,
        "update_expression": increment,
        "if_statement": _branching(_ELSE, onwards=True, always_before=False),
        "for_statement": _counting("local_variable_declaration"),
        "enhanced_for_statement": _twice(java_foreach),
        "while_statement": WHILE,
    },
    "csharp": {
        "variable_declarator": csharp_declaration,
        "assignment_expression": assignment,
        "postfix_unary_expression": increment,
        "if_statement": _branching(_ELSE, onwards=True, always_before=False),
        "for_statement": _counting("local_variable_declaration"),
        "while_statement": WHILE,
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
        "while_statement": WHILE,
    },
}


def find_mera_edges(language: str, root: Node, text: str) -> list[Edge]:
    """Return the data-flow edges of a text. Raises TooMuch."""
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
    all_tokens = list(tokens(root))
    last: dict[tuple[object, object], int] = {}
    for number, token in enumerate(all_tokens):
        last[token.raw.start_point, token.raw.end_point] = number
    for token in all_tokens:
        (first, begin), (end_line, end) = token.raw.start_point, token.raw.end_point
        token.index = last[token.raw.start_point, token.raw.end_point]
        if first == end_line:
            token.text = lines[first][begin:end]
        else:
            token.text = "".join((lines[first][begin:], *lines[first + 1 : end_line], lines[end_line][:end]))
