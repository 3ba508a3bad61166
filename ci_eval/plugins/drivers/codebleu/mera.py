"""CodeBLEU with the same values as in MERA CODE's UnitTests: github.com/Pstva/code_bleu at commit 014f2e8.

Two things differ. Where the original depends on the order of a set (and so on PYTHONHASHSEED), this module uses the
order of the text. A text whose data flow would take minutes has no score. Floats are added by `math.fsum`, since Python
3.12 changed the last digits of `sum`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ci_eval.plugins.drivers.codebleu import parts
from ci_eval.plugins.drivers.codebleu.comments import strip_comments
from ci_eval.plugins.drivers.codebleu.parts import COMES, COMPUTED, Edge, Entry, Flow, Node, States, TooMuch
from ci_eval.plugins.drivers.codebleu.trees import parse

LENGTH_OF_A_REFERENCE = 2
"""In the original, each reference has this length, since it is a pair: its words and their weights."""
MOST_NODES = 3_000_000
"""The limit of nodes in all sub-trees of a text together: each sub-tree is written out as a text."""


def grade(language: str, reference: str, hypothesis: str) -> dict[str, float]:
    """Return the four partial scores and their mean, from 0 to 1. Raises TooMuch."""
    reference, hypothesis = reference.strip(), hypothesis.strip()
    expected, given = reference.split(), hypothesis.split()
    # The weighted score is a recall: it counts how many of the reference's n-grams are in the text.
    weights = {word: 1 if word in KEYWORDS[language] else 0.2 for word in expected}
    scores = {
        "ngram": parts.brevity(len(expected), len(given)) * parts.match_runs(given, expected, {}, least=1),
        "weightedNgram": parts.brevity(LENGTH_OF_A_REFERENCE, len(given))
        * parts.match_runs(expected, given, weights, least=1),
    }
    reference, hypothesis = (strip_comments(language, text) for text in (reference, hypothesis))
    reference_tree, hypothesis_tree = parse(language, reference), parse(language, hypothesis)
    scores["syntax"] = same_subtrees(reference_tree, hypothesis_tree)
    expected_edges = find_mera_edges(language, reference_tree, reference)
    scores["dataflow"] = (
        parts.share_edges(expected_edges, find_mera_edges(language, hypothesis_tree, hypothesis)) or 0.0
    )
    return {"codebleu": math.fsum(0.25 * score for score in scores.values()), **scores}


def same_subtrees(expected: Node, given: Node) -> float:
    """Return the share of expected sub-trees that are also in the given tree. Names and operators are ignored."""
    expected_subtrees, given_subtrees = _spell_subtrees(expected), frozenset(_spell_subtrees(given))
    return sum(subtree in given_subtrees for subtree in expected_subtrees) / len(expected_subtrees)


def _spell_subtrees(root: Node) -> list[str]:
    """Return a text for the whole tree, and for each sub-tree of more than one node. Raises TooMuch."""
    subtrees = [node for node in parts.walk(root) if node.children or node is root]
    if sum(node.raw.descendant_count for node in subtrees) > MOST_NODES:
        raise TooMuch(f"the text's sub-trees have more than {MOST_NODES:,} nodes together")
    return [str(node.raw) for node in subtrees]


_KEYWORDS = {
    "python": "False None True and as assert async await break class continue def del elif else except finally for "
    "from global if import in is lambda nonlocal not or pass raise return try while with yield",
    "java": "abstract assert boolean break byte case catch char class const continue default do double else enum "
    "extends final finally float for goto if implements import instanceof int interface long native new package "
    "private protected public return short static strictfp super switch synchronized this throw throws transient try "
    "void volatile while",
    "go": "break default func interface select case defer go map struct chan else goto package switch const "
    "fallthrough if range type continue for import return var",
    "javascript": "abstract boolean break byte case catch char class continue const debugger default delete do "
    "double else enum export extends false final finally float for function goto if implements import in instanceof "
    "int interface long native new null package private protected public return short static super switch "
    "synchronized this throw throws transient true try typeof var void while with",
    "csharp": "abstract as base bool break byte case catch char checked class const continue decimal default "
    "delegate do double else enum event explicit extern false finally fixed float for foreach goto if implicit in int "
    "interface internal is lock long namespace new null object operator out override params private protected public "
    "readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof "
    "uint ulong unchecked unsafe ushort using virtual void volatile while add alias ascending async await by "
    "descending dynamic equals from get global group into join let nameof notnull on orderby partial remove select "
    "set unmanaged value var when where yield",
}
KEYWORDS = {language: frozenset(words.split()) for language, words in _KEYWORDS.items()}
"""Language → the words with weight 1 in the weighted n-grams, as in the original."""


# ----------------------------------------------------------------------------------------------------------- data flow
#
# The rules are those of `parser/DFG.py` (from Microsoft's CodeXGLUE, MIT), with its gaps: no `:=`, `--` or `range` in
# Go, no plain `=` in JavaScript, no initialisers and no `foreach` in C#. `strict.RULES` has none of these gaps.

DEEPEST = 980
"""The limit of a tree's depth. In deeper trees, the original reaches the recursion limit and finds no data flow."""


class Incomplete(Exception):
    """Raised at a statement at which the original fails; it then finds no data flow in the whole text."""


Rule = Callable[["MeraFlow", Node, States], States]


class MeraFlow(Flow):
    """A walk by rules, which map the type of a node to the function that walks such nodes."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        super().__init__()
        self.rules = rules

    def walk(self, node: Node | None, states: States) -> States:
        self.take()
        if node is None or _is_within_a_string(node):
            raise Incomplete
        if node.index >= 0:
            known = states.get(node.text)
            if node.type == node.text:
                return states
            if known is None and node.type == "identifier":
                states[node.text] = [node.index]
            self.entries.append((node.text, node.index, COMES, [] if known is None else [node.text], known or []))
            return states
        rule = self.rules.get(node.type)
        if rule:
            return rule(self, node, states)
        # In a comprehension, the clauses are walked first, since they give the variables their values.
        clauses = [child for child in node.children if child.type == "for_in_clause"]
        return self.walk_all([*clauses, *(child for child in node.children if child not in clauses)], states)

    def names(self, node: Node | None) -> list[Node]:
        """Return the tokens of a node that are names or literals. Raises Incomplete."""
        if node is None:
            raise Incomplete
        all_tokens = list(parts.tokens(node))
        self.take(len(all_tokens))
        if any(map(_is_within_a_string, all_tokens)):
            raise Incomplete
        return [token for token in all_tokens if token.index >= 0 and token.type != token.text]

    def link(self, left: Sequence[Node], right: Sequence[Node], how: str, states: States) -> None:
        for target in left:
            self.entries += [(target.text, target.index, how, [source.text], [source.index]) for source in right]
            states[target.text] = [target.index]


def _is_within_a_string(node: Node) -> bool:
    """Return whether a node is part of a string, which counts as one token."""
    # In Python, the original pairs the children of both sides, and so reaches such nodes in `a.b = "c"`.
    return node.index < 0 and not node.children and node.type != "comment"


def _declare(flow: MeraFlow, name: Node | None, value: Node | None, states: States) -> States:
    names = flow.names(name)
    if value is None:
        for variable in names:
            flow.entries.append((variable.text, variable.index, COMES, [], []))
            states[variable.text] = [variable.index]
        return states
    states = flow.walk(value, states)
    flow.link(names, flow.names(value), COMES, states)
    return states


def declaration(flow: MeraFlow, node: Node, states: States) -> States:
    return _declare(flow, node.field("name"), node.field("value"), states)


def assignment(flow: MeraFlow, node: Node, states: States) -> States:
    return note_assignment(flow, node.field("left"), node.field("right"), states)


def increment(flow: MeraFlow, node: Node, states: States) -> States:
    names = flow.names(node)
    flow.link(names, names, COMPUTED, states)
    return states


def _merge(entries: list[Entry], begin: int) -> None:
    """Merge the entries from `begin` on that have the same variable, token and way (COMES or COMPUTED)."""
    merged: dict[tuple[str, int, str], tuple[list[str], list[int]]] = {}
    for name, token, how, sources, positions in entries[begin:]:
        known = merged.get((name, token, how))
        if known:
            sources, positions = parts.unique([*known[0], *sources]), sorted({*known[1], *positions})
        merged[name, token, how] = sources, positions
    entries[begin:] = [(*key, *value) for key, value in merged.items()]


def _branching(branches: frozenset[str], *, onwards: bool, always_before: bool) -> Rule:
    """Return the rule for branches. `onwards`: all children after the first branch are branches, too. `always_before`:
    the states before the branches are kept even if there is an else."""

    def rule(flow: MeraFlow, node: Node, states: States) -> States:
        current = dict(states)
        branch_states: list[States] = []
        for child in node.children:
            if child.type in branches or (onwards and branch_states):
                branch_states.append(flow.walk(child, dict(states)))
            else:
                current = flow.walk(child, current)
        complete = any("else" in child.type for child in node.children)
        return parts.join_states([*branch_states, current, *([] if complete and not always_before else [states])])

    return rule


def _counting(head: str) -> Rule:
    """Return the rule for `for` loops: the children after the head are walked twice."""

    def rule(flow: MeraFlow, node: Node, states: States) -> States:
        begin = len(flow.entries)
        states = flow.walk_all(node.children, states)
        types = [child.type for child in node.children]
        if head in types:
            position = types.index(head)
            if update := node.children[position].field("update"):
                states = flow.walk(update, states)
            states = flow.walk_all(node.children[position + 1 :], states)
        _merge(flow.entries, begin)
        return states

    return rule


def _twice(turn: Rule) -> Rule:
    """Return the rule for other loops: `turn` is called twice."""

    def rule(flow: MeraFlow, node: Node, states: States) -> States:
        begin = len(flow.entries)
        for _ in range(2):
            states = turn(flow, node, states)
        _merge(flow.entries, begin)
        return states

    return rule


def note_assignment(flow: MeraFlow, name: Node | None, value: Node | None, states: States) -> States:
    states = flow.walk(value, states)
    flow.link(flow.names(name), flow.names(value), COMPUTED, states)
    return states


def _python_assign(flow: MeraFlow, node: Node, states: States) -> States:
    """Record the data flow from the right side of an assignment to its left side. Raises Incomplete."""
    sides = node.field("left"), node.field("right")
    if None in sides:
        raise Incomplete
    left, right = ([child for child in side.children if child.type != ","] for side in sides if side)
    # If both sides have equally many children, the children are paired, even those of `a.b` with those of `c + d`.
    if len(left) != len(right) or not left:
        return _python_pair(flow, sides[:1], sides[1:], states)
    return _python_pair(flow, left, right, states)


def _python_pair(flow: MeraFlow, left: Sequence[Node | None], right: Sequence[Node | None], states: States) -> States:
    states = flow.walk_all(right, states)
    for target, value in zip(left, right):  # noqa: B905  they are equally many
        sources = flow.names(value)
        for name in flow.names(target):
            entry = (name.text, name.index, COMPUTED, [s.text for s in sources], [s.index for s in sources])
            flow.entries.append(entry)
            states[name.text] = [name.index]
    return states


def python_assignment(flow: MeraFlow, node: Node, states: States) -> States:
    """Record the data flow of `a = b` and `a += b`. There is none in `a: int`."""
    return states if node.field("right") is None else _python_assign(flow, node, states)


def python_loop(flow: MeraFlow, node: Node, states: States) -> States:
    states = _python_assign(flow, node, states)
    # As in the original, the block is skipped if it is not the last child.
    return flow.walk(node.children[-1], states) if node.children[-1].type == "block" else states


WHILE = _twice(lambda flow, node, states: flow.walk_all(node.children, states))
_ELSE = frozenset(("if_statement", "else"))
RULES: Mapping[str, Mapping[str, Rule]] = {
    "python": {
        "default_parameter": declaration,
        "assignment": python_assignment,
        "augmented_assignment": python_assignment,
        "for_in_clause": lambda flow, node, states: _python_pair(
            flow, [node.field("left")], node.children[-1:], states
        ),
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
        "enhanced_for_statement": _twice(
            lambda flow, node, states: flow.walk(
                node.field("body"), note_assignment(flow, node.field("name"), node.field("value"), states)
            )
        ),
        "while_statement": WHILE,
    },
    "csharp": {
        # The original expects two children, as in an old grammar. The pinned grammar has three: no value is found.
        "variable_declarator": lambda flow, node, states: _declare(
            flow, node.children[0], node.children[1] if len(node.children) == 2 else None, states
        ),
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
    if parts.depth(root) > DEEPEST:
        return []
    # As in the original, offsets in bytes are used as offsets in characters.
    lines = text.split("\n")
    all_tokens = list(parts.tokens(root))
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
    flow = MeraFlow(RULES[language])
    try:
        flow.walk(root, {})
    except Incomplete:
        return []
    return parts.edges(flow.entries)
