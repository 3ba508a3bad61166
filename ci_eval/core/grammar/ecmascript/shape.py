"""The shape of the syntax trees of JavaScript and TypeScript."""

from __future__ import annotations

from ci_eval.core.contracts import Shape

_STATEMENTS = ("expression_statement", "return_statement", "throw_statement", "if_statement", "break_statement")
_HEADS = ("if_statement", "for_statement", "for_in_statement", "while_statement", "else_clause")

SHAPE = Shape(
    lists=frozenset("program class_body interface_body object_type enum_body internal_module_body".split())
    | {"internal_module statement_block", "module statement_block"},
    bodies=frozenset(
        f"{function} statement_block"
        for function in (
            "function_declaration generator_function_declaration function_expression function generator_function "
            "arrow_function method_definition"
        ).split()
    ),
    closers=frozenset([")", "]", "}", ";", "`", "type_arguments >", "type_parameters >", "switch_case :"])
    | {'string "', "string '", "switch_default :"},
    stand_ins={
        "statement_block": "{}",
        "class_body": "{}",
        "switch_body": "{}",
        "interface_body": "{}",
        "enum_body": "{}",
        # A `try` alone does not parse; `finally {}` is the shortest that completes it.
        "try_statement catch_clause": " finally {}",
        **{f"{head} {statement}": ";" for head in _HEADS for statement in _STATEMENTS},
    },
)
