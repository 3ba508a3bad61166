"""The expansion of a dataset's lines into items, and of items into lookups."""
