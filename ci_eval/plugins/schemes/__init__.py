"""The sources of target projects, one file each. Users write the file's name before a colon."""
