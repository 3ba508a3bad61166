"""The kinds of recommenders, one module each."""
