"""What is listed for people who decide about a change."""

from __future__ import annotations

import pytest

from stackrank.env.suspicious import find_suspicious


@pytest.mark.parametrize(
    "source",
    [
        b"# coding: utf-7\nx = 1\n# a note +AAo-import gc\n",
        b"# coding: utf-7\nx = '+ACc-; import gc; +ACc-'\n",
        b"# coding: unicode_escape\nx = 1\n# a note \\x0aimport gc\n",
    ],
)
def test_what_an_encoding_hides_from_people_is_listed(source: bytes) -> None:
    whats = [finding["what"] for finding in find_suspicious({"a.py": b"x = 1\n"}, {"a.py": source})]
    assert whats[0].startswith("declares an encoding") and "imports gc: searches the heap" in whats


@pytest.mark.parametrize("source", ["\ufeffx = 'é'\n".encode(), "# coding: latin-1\nx = 'é'\n".encode("latin-1")])
def test_other_encodings_hide_nothing(source: bytes) -> None:
    assert find_suspicious({}, {"a.py": source}) == ()


@pytest.mark.parametrize("source", [b"x = " + b"-" * 5000 + b"1\nimport gc\n", b"type A = type B\nimport gc\n"])
def test_a_source_that_is_not_looked_at_is_listed(source: bytes) -> None:
    """The Python of the sandbox may be newer than this one, and accept it."""
    (finding,) = find_suspicious({}, {"a.py": source})
    assert finding["what"].startswith("is not looked at")
