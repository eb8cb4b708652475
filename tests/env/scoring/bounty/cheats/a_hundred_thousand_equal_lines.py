"""More equal lines than a comparison of two files gets through."""

AFTER = "\n" * 100_000 + "def never():\n    return 0\n"
