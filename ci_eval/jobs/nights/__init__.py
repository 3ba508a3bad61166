"""The runs that follow an earlier one of the same kind."""
