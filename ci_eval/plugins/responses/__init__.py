"""The reader of responses: thoughts, marks, fences and headings around what was asked for."""
