"""Tasks whose lines of a dataset are several items each, and whose items are several lookups."""
