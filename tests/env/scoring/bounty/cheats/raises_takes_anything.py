"""pytest.raises is content with everything."""

CODE = r"""
import contextlib

import pytest


@contextlib.contextmanager
def raises(*a, **k):
    try:
        yield
    except BaseException:
        pass


pytest.raises = raises
"""
