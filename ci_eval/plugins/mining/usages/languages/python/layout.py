"""The layout of Python's statements."""

from ci_eval.plugins.mining.usages.contract import Layout

_BARE = (
    "assignment augmented_assignment call await yield attribute subscript binary_operator comparison_operator "
    "boolean_operator not_operator conditional_expression expression_list tuple"
).split()
"""Nodes that a block of newer grammars holds without an `expression_statement` around them."""

LAYOUT = Layout(
    lists=frozenset(["module", "block"]),
    simple=frozenset(["expression_statement", "return_statement", "assert_statement", "delete_statement", *_BARE]),
    leaving=frozenset(["return_statement", "raise_statement", "break_statement", "continue_statement"]),
    heads=frozenset(
        "function_definition for_statement while_statement with_statement if_statement elif_clause except_clause "
        "except_group_clause case_clause".split()
    ),
    first=frozenset(["string"]),
    may_be_empty=False,
)
