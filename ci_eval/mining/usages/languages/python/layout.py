"""How Python's statements are laid out."""

from ci_eval.mining.usages.contract import Layout

LAYOUT = Layout(
    lists=frozenset(["module", "block"]),
    simple=frozenset(["expression_statement", "return_statement", "assert_statement", "delete_statement"]),
    leaving=frozenset(["return_statement", "raise_statement", "break_statement", "continue_statement"]),
    heads=frozenset(
        "function_definition for_statement while_statement with_statement if_statement elif_clause except_clause "
        "except_group_clause case_clause".split()
    ),
    first=frozenset(["string"]),
    may_be_empty=False,
)
