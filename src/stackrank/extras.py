"""Packages that only some features need, as extras of the distribution: `pip install 'stackrank[EXTRA]'`."""

from __future__ import annotations

import re
from importlib.metadata import requires
from importlib.util import find_spec

from stackrank.errors import UsageError


def require(package: str, *, extra: str, feature: str) -> None:
    """Check that a package which only `feature` needs is installed. Raises UsageError that names the extra."""
    if find_spec(package) is None:
        raise UsageError(f"{feature} needs the package {package}: run pip install 'stackrank[{extra}]'")


def missing_extra(error: Exception, *, preferred: str = "") -> str | None:
    """Return the extra that brings the package which could not be imported; `preferred` if several do."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = re.escape(error.name.partition(".")[0])
    matches = [re.match(rf"{package}\b.*\bextra == \W([\w-]+)", text) for text in requires("stackrank") or ()]
    extras = [match[1] for match in matches if match]
    return preferred if preferred in extras else next(iter(extras), None)
