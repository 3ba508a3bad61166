"""The layout of Java's statements."""

from ci_eval.plugins.mining.usages.contract import Layout

LAYOUT = Layout(
    lists=frozenset(["block", "constructor_body", "switch_block_statement_group"]),
    simple=frozenset(["expression_statement", "local_variable_declaration", "return_statement", "assert_statement"]),
    leaving=frozenset("return_statement throw_statement break_statement continue_statement yield_statement".split()),
    heads=frozenset(
        "method_declaration constructor_declaration compact_constructor_declaration lambda_expression for_statement "
        "enhanced_for_statement while_statement if_statement try_with_resources_statement catch_clause".split()
    ),
    first=frozenset(["explicit_constructor_invocation"]),
    walls=frozenset(["class_body", "interface_body", "enum_body", "enum_body_declarations"]),
)
