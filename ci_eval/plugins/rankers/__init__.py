"""The completion types: one file each; the name a user writes is the file's in capitals."""
