# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import difflib

import pytest

from hunks import BadPatch, apply, read

TEXT = "".join(f"line {n}\n" for n in range(1, 9))


def diff(old, new, n):
    return "\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), "a", "b", n=n, lineterm="")) + "\n"


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("change", [
    lambda lines: lines[:3] + ["x"] + lines[4:],
    lambda lines: lines[:3] + lines[4:],
    lambda lines: lines[:5] + ["x"] + lines[5:],
    lambda lines: ["x", "y"] + lines,
    lambda lines: lines + ["x"],
    lambda lines: lines[1:-1],
    lambda lines: ["x"],
    lambda lines: [],
    lambda lines: [lines[0], "a", "b"] + lines[2:6] + lines[7:],
])
def test_there_and_back(change, n):
    new = "".join(line + "\n" for line in change(TEXT.splitlines()))
    patch = diff(TEXT, new, n)
    assert apply(TEXT, patch) == new
    assert apply(new, patch, reverse=True) == TEXT


def test_header_without_counts():
    (hunk,) = read("@@ -4 +5,2 @@ def f():\n-a\n+b\n+c\n")
    assert (hunk.old.start, hunk.old.count, hunk.old.index) == (4, 1, 3)
    assert (hunk.new.start, hunk.new.count, hunk.new.index) == (5, 2, 4)


def test_explicit_zero():
    (hunk,) = read("@@ -4,0 +5 @@\n+a\n")
    assert (hunk.old.count, hunk.old.index, hunk.new.count) == (0, 4, 1)
    assert apply("", "@@ -0,0 +1 @@\n+a\n") == "a\n"
    assert apply("a\n", "@@ -1 +0,0 @@\n-a\n") == ""


def test_wrong_counts():
    for header in ("@@ -1 +1,0 @@", "@@ -1,0 +1 @@", "@@ -1,2 +1 @@", "@@ nothing @@"):
        with pytest.raises(BadPatch):
            read(header + "\n-a\n+b\n")


def test_empty_context_line():
    assert apply("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n") == "a\n\nc\n"


def test_counts_of_one_are_checked():
    for patch in (
        "@@ -1,1 +1,1 @@\n-one\n-two\n+1\n",
        "@@ -1,2 +1,1 @@\n-one\n-two\n+1\n+2\n",
        "@@ -1 +1 @@\n-one\n+1\n+2\n",
        "@@ -1 +1 @@\n-one\n",
    ):
        with pytest.raises(BadPatch):
            apply("one\ntwo\n", patch)
