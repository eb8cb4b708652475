"""Source that the parser has no memory for."""

AFTER = "\n\ndef never():\n    return " + "-" * 10_000 + "1\n"
