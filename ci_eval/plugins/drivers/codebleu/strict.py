"""The CodeBLEU as it should be, without the faults of its implementations; docs/graders.md says what differs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from ci_eval.plugins.drivers.codebleu import strict_flow
from ci_eval.plugins.drivers.codebleu.flow import count_common_edges
from ci_eval.plugins.drivers.codebleu.ngrams import ORDERS, brevity, count_ngrams, mean
from ci_eval.plugins.drivers.codebleu.trees import Node, parse, tokens, walk

COMMENTS = frozenset(("comment", "line_comment", "block_comment", "html_comment"))
OF_A_NAME = 0.2
"""The weight of a word that is none of the language's own, which count 1."""


def grade(language: str, reference: str, hypothesis: str) -> dict[str, float]:
    """Return the four parts, their mean, and the share of the text that the grammar can read; 0 to 1. Raises
    TooMuch."""
    reference_tree, hypothesis_tree = parse(language, reference), parse(language, hypothesis)
    parsed = readable(hypothesis_tree)
    drop_comments(reference_tree)
    drop_comments(hypothesis_tree)
    words, weights = _words(hypothesis_tree)
    expected_words, _ = _words(reference_tree)
    parts = {
        "ngram": precision(expected_words, words, dict.fromkeys(words, 1.0)),
        "weightedNgram": precision(expected_words, words, weights),
        "syntax": same_subtrees(reference_tree, hypothesis_tree),
    }
    expected_edges, given_edges = (
        strict_flow.find_strict_edges(language, reference_tree),
        strict_flow.find_strict_edges(language, hypothesis_tree),
    )
    # Without edges to find, the other three parts count a third each, as if this part were their mean.
    parts["dataflow"] = (
        count_common_edges(expected_edges, given_edges) / len(expected_edges)
        if expected_edges
        else math.fsum(parts.values()) / 3
    )
    return {"codebleu": math.fsum(parts.values()) / 4, **parts, "parsed": parsed}


def readable(root: Node) -> float:
    """Return the share of the text that is in no error; 0 for an empty one."""
    whole = len(root.raw.text.split())
    errors = [node for node in walk(root) if node.raw.is_error or node.raw.is_missing]
    inner = {id(below) for error in errors for below in walk(error) if below is not error}
    wrong = sum(max(1, len(error.raw.text.split())) for error in errors if id(error) not in inner)
    return 1 - min(1.0, wrong / whole) if whole else 0.0


def drop_comments(root: Node) -> None:
    """Remove comments from the tree, and strings that are statements of their own, as docstrings are."""
    for node in walk(root):
        node.children = [child for child in node.children if child.type not in COMMENTS and not _is_docstring(child)]


def _is_docstring(node: Node) -> bool:
    return node.type == "expression_statement" and [child.type for child in node.children] == ["string"]


def _words(root: Node) -> tuple[list[str], dict[str, float]]:
    """Return the text's words, and the weight of each."""
    words, weights = [], {}
    for token in tokens(root):
        text = token.raw.text.decode()
        if token.type not in COMMENTS and text.strip():
            words.append(text)
            # The grammars name the node of a keyword by its text.
            weights[text] = 1.0 if text.isalpha() and token.type == text.lower() else OF_A_NAME
    return words, weights


def precision(expected: Sequence[str], given: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the BLEU of as many words in a row as the text has, four at most; single words count by weight."""
    if not expected and not given:
        return 1.0
    fractions = []
    for order in ORDERS[: len(given)]:
        given_runs = count_ngrams(given, order)
        both = count_ngrams(expected, order) & given_runs
        weigh = weights if order == 1 else {}
        part, whole = (
            math.fsum(count * weigh.get(run[0], 1.0) for run, count in runs.items()) for runs in (both, given_runs)
        )
        fractions.append((part, whole))
    return mean(fractions, brevity(len(expected), len(given)))


def same_subtrees(expected: Node, given: Node) -> float:
    """Return the F1 of the sub-trees that both have, each as often as the one that has it less often. Names are
    ignored."""
    numbers: dict[tuple[str, tuple[int, ...]], int] = {}
    expected_subtrees, given_subtrees = _subtrees(expected, numbers), _subtrees(given, numbers)
    return 2 * (expected_subtrees & given_subtrees).total() / (expected_subtrees.total() + given_subtrees.total())


def _subtrees(root: Node, numbers: dict[tuple[str, tuple[int, ...]], int]) -> Counter[int]:
    """Return how often each sub-tree of more than one node is there, by its number. Equal sub-trees have one number."""
    number_of: dict[int, int] = {}
    counts: Counter[int] = Counter()
    # A walk yields parents first, and a sub-tree's number needs those of its children.
    for node in reversed(list(walk(root))):
        key = node.type, tuple(number_of[id(child)] for child in node.children)
        number_of[id(node)] = numbers.setdefault(key, len(numbers))
        if node.children or node is root:
            counts[number_of[id(node)]] += 1
    return counts
