"""What is said about tests that do not run: the package that is too new, the server that is not there."""

from __future__ import annotations

import pytest

from stackrank.env.benchmarks.python_project.remedies import find_remedy

TOX = b"""[testenv]
deps =
    nose
    django19: Django>=1.9,<1.10
    django20: Django>=2.0,<2.1
"""
SETUP = b"""setup(classifiers=[
    'Framework :: Django', 'Framework :: Django :: 1.11', 'Framework :: Django :: 2.0', 'Framework :: Wagtail :: 3',
])
"""
MOVED = "ImportError: cannot import name 'python_2_unicode_compatible' from 'django.utils.encoding' (/opt/encoding.py)"


@pytest.mark.parametrize(
    ("reason", "files", "remedy"),
    [
        (MOVED, {"tox.ini": TOX, "setup.py": SETUP}, "--require 'Django>=2.0,<2.1'"),
        (MOVED, {"setup.py": SETUP}, "--require 'django<2.1'"),
        (MOVED, {}, "django may be too new"),
        (MOVED, {"setup.py": SETUP, "uv.lock": b"[[package]]\nname = 'Django'\nversion = '1.8.2'"}, "'django==1.8.2'"),
        (
            MOVED,
            {"poetry.lock": b"[[package]]\nname = 'a'\n[[package]]\nname = 'django'\nversion = '2'"},
            "'django==2'",
        ),
        (MOVED, {"pdm.lock": b"[[package]]\nname = 'django'\nversion =", "setup.py": SETUP}, "--require 'django<2.1'"),
        ("ModuleNotFoundError: No module named 'django.utils.six'", {"setup.py": SETUP}, "--require 'django<2.1'"),
        ("AttributeError: module 'yaml' has no attribute 'load_all_old'", {}, "yaml may be too new"),
        ("ImportError: cannot import name 'Mapping' from 'collections' (/python3.11/collections)", {}, "--python"),
        ("ModuleNotFoundError: No module named 'django'", {"setup.py": SETUP}, ""),
        (MOVED, {"django/utils/encoding.py": b""}, ""),
        ("AssertionError: assert 1 == 2", {"setup.py": SETUP}, ""),
    ],
)
def test_a_package_that_is_too_new_is_named(reason: str, files: dict[str, bytes], remedy: str) -> None:
    _usual, _, pin = find_remedy(reason, files).partition(";")
    assert remedy in pin and bool(remedy) == bool(pin)
