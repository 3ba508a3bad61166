"""Whether what a file imports is there: in the project, the language's own library, or the installed dependencies."""
