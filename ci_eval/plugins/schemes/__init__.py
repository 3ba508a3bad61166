"""The sources of target projects. Users write a scheme's name before a colon."""

TOGETHER = {"packages": ("crate", "debian", "go", "maven", "npm", "pypi"), "locations": ("git", "https", "path")}
