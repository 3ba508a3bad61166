"""The data flow of `codebleu-strict`: which variable comes from which.

A variable is a name that the text itself gives a value to: the text assigns or declares it, or has it as a parameter or
counter. Names of functions, types, members and globals are none. A variable that is read comes from itself, a variable
that is given a value from the variables that the value is made of. In a loop, everything is known that any turn gives a
value to. No branch knows what another one does. Each node is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ci_eval.plugins.drivers.codebleu.flow import COMES, Edge, Entry, States, Steps, edges, join_states, unique
from ci_eval.plugins.drivers.codebleu.rules import REST, RULES, Binding, Rules
from ci_eval.plugins.drivers.codebleu.trees import Node, tokens, walk


class Flow:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.entries: list[Entry] = []
        self._steps = Steps()

    def walk(self, node: Node, states: States) -> States:
        """Note what happens in a node, and return the states after it. `states` is used up."""
        self._steps.take()
        if self._is_variable(node):
            known = states.get(node.text)
            if known:
                self.entries.append((node.text, node.index, COMES, [node.text], known))
            return states
        if node.type in self.rules.loops:
            # The next turn knows what this one gives a value to.
            states = join_states([states, self._bound_within(node)])
        if node.type in self.rules.branches:
            branches = node.fields("consequence", "alternative")
            states = self._walk_all((child for child in node.children if child not in branches), states)
            return join_states([states, *[self.walk(branch, dict(states)) for branch in branches]])
        binding = self._binding(node)
        if binding:
            return self._bind(node, binding, states)
        seen = self._visible_children(node)
        if node.type in self.rules.parameters:
            for child in filter(self._is_variable, seen):
                self._give(child, [], COMES, states)
            seen = [child for child in seen if not self._is_variable(child)]
        return self._walk_all(seen, states)

    def _walk_all(self, nodes: Iterable[Node], states: States) -> States:
        for node in nodes:
            states = self.walk(node, states)
        return states

    def _is_variable(self, node: Node) -> bool:
        return node.type in self.rules.variables

    def _visible_children(self, node: Node) -> list[Node]:
        """Return the children of a node except those in which no variables are."""
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
        if binding.value == REST:
            return targets, [child for child in named if child not in targets]
        return targets, node.fields(binding.value) if binding.value else []

    def _bind(self, node: Node, binding: Binding, states: States) -> States:
        targets, values = self._sides(node, binding)
        remaining = [child for child in self._visible_children(node) if child not in targets and child not in values]
        states = self._walk_all(values, states)
        grows = binding.grows or any(_adds(child) for child in remaining)
        for left, right in self._pairs(targets, values):
            states = self._walk_all([read for target in left for read in self._aside(target)], states)
            names = [name for value in right for name in self._names(value)]
            for target, whole in [pair for assigned in left for pair in self._targets(assigned)]:
                own = [] if whole and not grows else [target.text]
                self._give(target, [*own, *names], binding.how, states)
        return self._walk_all(remaining, states)

    def _give(self, target: Node, names: Iterable[str], how: str, states: States) -> None:
        known = [name for name in unique(names) if name in states]
        positions = [position for name in known for position in states[name]]
        self.entries.append((target.text, target.index, how, known, positions))
        states[target.text] = [target.index]

    def _names(self, node: Node) -> Iterator[str]:
        if self._is_variable(node):
            yield node.text
        for child in self._visible_children(node):
            yield from self._names(child)

    def _pairs(self, targets: Sequence[Node], values: Sequence[Node]) -> list[tuple[Sequence[Node], Sequence[Node]]]:
        """Return the pairs of variables and values: the values on the right are given to the variables on the left."""
        left, right = self._parts(targets), self._parts(values)
        if len(left) == len(right):
            return [([target], [value]) for target, value in zip(left, right)]  # noqa: B905  they are equally many
        return [(targets, values)]

    def _parts(self, nodes: Sequence[Node]) -> Sequence[Node]:
        if len(nodes) == 1 and nodes[0].type in self.rules.lists:
            return [child for child in nodes[0].children if child.raw.is_named]
        return nodes

    def _targets(self, node: Node) -> Iterator[tuple[Node, bool]]:
        """Yield the variables that are given a value, and whether all of the value is new."""
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
        """Yield what is read where a value is given: indices, default values."""
        bases = node.fields(self.rules.bases[node.type]) if node.type in self.rules.bases else None
        binding = self._binding(node)
        values = self._sides(node, binding)[1] if binding else []
        for child in self._visible_children(node):
            if child in values or (bases is not None and child not in bases):
                yield child
            else:
                yield from self._aside(child)

    def _bound_within(self, node: Node) -> States:
        """Return all variables that are given a value in a node, and where."""
        positions: States = {}
        for descendant in walk(node):
            self._steps.take()
            if binding := self._binding(descendant):
                for target in self._sides(descendant, binding)[0]:
                    for token, _ in self._targets(target):
                        positions.setdefault(token.text, []).append(token.index)
        return positions


def _adds(sign: Node) -> bool:
    return len(sign.type) > 1 and sign.type.endswith("=") and sign.type != ":="


def find_strict_edges(language: str, root: Node) -> list[Edge]:
    """Return the data-flow edges of a text. Raises TooMuch."""
    for number, token in enumerate(tokens(root)):
        token.index, token.text = number, token.raw.text.decode()
    flow = Flow(RULES[language])
    flow.walk(root, {})
    return edges(flow.entries)
