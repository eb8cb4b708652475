# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Errors of the template language."""
from __future__ import annotations


class TemplateError(Exception):
    """The template is wrong."""


class UnknownName(TemplateError):
    """A name that has no value."""
