"""The schemes: kinds of sources of target projects. In a source, users write the scheme's name before a colon."""

TOGETHER = {"packages": ("crate", "debian", "go", "maven", "npm", "pypi"), "locations": ("git", "https", "path")}
