"""Source whose syntax tree is too deep to walk by calls of itself."""

AFTER = "\n\ndef never(a):\n    return a" + ".b" * 1500 + "\n"
