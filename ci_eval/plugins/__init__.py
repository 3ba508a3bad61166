"""The variants that a package of others may add as well, and what they share."""
