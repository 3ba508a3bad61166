"""The graders. A grader measures how close a suggestion is to the expected text."""

TOGETHER = {
    "similarity": ("bleu", "bleu-mera", "chrf", "chrf-mera"),
    "codebleu": ("codebleu-mera", "codebleu-strict"),
    "inline": ("inline", "well-formed"),
    "names": ("exact", "subtoken-f1", "subtoken-lcs"),
}
