"""A plug-in's module whose own requirement is not installed."""

import missing_package  # type: ignore[import-not-found]  # noqa: F401
