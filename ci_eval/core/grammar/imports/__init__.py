"""The checks whether what a file imports is there: in the project, in the language's own library, or in the installed
dependencies."""
