"""The tests taken out of the session."""

CODE = r"""
import gc

import pytest

for session in [each for each in gc.get_objects() if isinstance(each, pytest.Session)]:
    session.items = []
    session.perform_collect = lambda *a, **k: []
"""
