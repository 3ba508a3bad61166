"""What language models write around what they were asked for: thoughts, marks, fences, headings."""
