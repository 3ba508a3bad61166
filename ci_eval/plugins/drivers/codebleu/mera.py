"""The CodeBLEU of MERA CODE's UnitTests, value for value: github.com/Pstva/code_bleu at commit 014f2e8.

Two things differ. What depends there on the order of a set (and so on PYTHONHASHSEED) keeps the order of the text, and
a text whose data flow would take minutes has no score. Floats are added by `math.fsum`, since the last digits of `sum`
have changed in Python 3.12.
"""

from __future__ import annotations

import math

from ci_eval.plugins.drivers.codebleu import comments, mera_flow
from ci_eval.plugins.drivers.codebleu.flow import count_common_edges
from ci_eval.plugins.drivers.codebleu.keywords import KEYWORDS
from ci_eval.plugins.drivers.codebleu.ngrams import ORDERS, brevity, count_ngrams, mean
from ci_eval.plugins.drivers.codebleu.trees import Node, TooMuch, parse, walk

LENGTH_OF_A_REFERENCE = 2
"""The length of a reference in the original, since a reference is there a pair of its words and their weights."""
LARGEST = 3_000_000
"""The most nodes of all sub-trees of a text together; each of them is spelled out."""


def grade(language: str, reference: str, hypothesis: str) -> dict[str, float]:
    """Return the four parts and their mean, 0 to 1. Raises TooMuch."""
    reference, hypothesis = reference.strip(), hypothesis.strip()
    parts = {
        "ngram": precision(reference.split(), hypothesis.split()),
        "weightedNgram": weighted_recall(KEYWORDS[language], reference.split(), hypothesis.split()),
    }
    reference, hypothesis = (comments.strip_comments(language, text) for text in (reference, hypothesis))
    reference_tree, hypothesis_tree = parse(language, reference), parse(language, hypothesis)
    parts["syntax"] = same_subtrees(reference_tree, hypothesis_tree)
    parts["dataflow"] = same_flow(language, (reference_tree, reference), (hypothesis_tree, hypothesis))
    return {"codebleu": math.fsum(0.25 * part for part in parts.values()), **parts}


def precision(expected: list[str], given: list[str]) -> float:
    pairs = [(count_ngrams(expected, order), count_ngrams(given, order)) for order in ORDERS]
    fractions = [
        (sum((expected_runs & given_runs).values()), max(1, sum(given_runs.values())))
        for expected_runs, given_runs in pairs
    ]
    return mean(fractions, brevity(len(expected), len(given)))


def weighted_recall(keywords: frozenset[str], expected: list[str], given: list[str]) -> float:
    """Return the BLEU of the reference against the text, in which words that are no keywords count a fifth."""
    pairs = [(count_ngrams(expected, order), count_ngrams(given, order)) for order in ORDERS]
    fractions = []
    for order, (expected_runs, given_runs) in zip(ORDERS, pairs):  # noqa: B905  there is one of each
        both = expected_runs & given_runs
        if order == 1:
            weigh = {run: 1 if run[0] in keywords else 0.2 for run in expected_runs}
            whole = math.fsum(count * weigh[run] for run, count in expected_runs.items())
            fractions.append((math.fsum(count * weigh[run] for run, count in both.items()), max(1, whole)))
        else:
            fractions.append((sum(both.values()), max(1, sum(expected_runs.values()))))
    return mean(fractions, brevity(LENGTH_OF_A_REFERENCE, len(given)))


def same_subtrees(expected: Node, given: Node) -> float:
    """Return the share of the reference's sub-trees that are somewhere in the text. Names and operators are ignored."""
    expected_subtrees, given_subtrees = _spell_subtrees(expected), frozenset(_spell_subtrees(given))
    return sum(subtree in given_subtrees for subtree in expected_subtrees) / len(expected_subtrees)


def _spell_subtrees(root: Node) -> list[str]:
    """Return each sub-tree of more than one node, and the whole tree, as texts. Raises TooMuch."""
    subtrees = [node for node in walk(root) if node.children or node is root]
    if sum(node.raw.descendant_count for node in subtrees) > LARGEST:
        raise TooMuch(f"its sub-trees have more than {LARGEST:,} nodes together")
    return [str(node.raw) for node in subtrees]


def same_flow(language: str, expected: tuple[Node, str], given: tuple[Node, str]) -> float:
    """Return the share of the reference's edges that the text has, or 0 if the reference has none."""
    edges = mera_flow.find_mera_edges(language, *expected)
    return count_common_edges(edges, mera_flow.find_mera_edges(language, *given)) / len(edges) if edges else 0.0
