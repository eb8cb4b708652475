# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can be wrong with a sheet."""


class SheetError(ValueError):
    """A formula that cannot be computed."""


class Circular(SheetError):
    """A cell that needs itself."""
