"""The answers of a workspace as tables, for notebooks and other tools."""
