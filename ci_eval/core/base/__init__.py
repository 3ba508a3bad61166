"""Small tools that do not depend on code completion."""
