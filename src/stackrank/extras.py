"""Packages that only some features need, as extras of the distribution: `pip install 'stackrank[EXTRA]'`."""

from __future__ import annotations

from importlib.util import find_spec

from stackrank.errors import UsageError


def require(package: str, *, extra: str, feature: str) -> None:
    """Check that a package which only `feature` needs is installed. Raises UsageError that names the extra."""
    if find_spec(package) is None:
        raise UsageError(f"{feature} needs the package {package}: run pip install 'stackrank[{extra}]'")
