# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from hunks import BadPatch, DoesNotFit, apply

TEXT = "one\ntwo\nthree\nfour\n"


def test_change_with_context():
    patch = "--- a\n+++ b\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n"
    assert apply(TEXT, patch) == "one\n2\n2.5\nthree\nfour\n"


def test_single_line():
    patch = "--- a\n+++ b\n@@ -3 +3 @@\n-three\n+drei\n"
    assert apply(TEXT, patch) == "one\ntwo\ndrei\nfour\n"


def test_insert_only():
    assert apply(TEXT, "@@ -2,0 +3,2 @@\n+a\n+b\n") == "one\ntwo\na\nb\nthree\nfour\n"


def test_refused():
    with pytest.raises(DoesNotFit):
        apply(TEXT, "@@ -1,1 +1,1 @@\n-two\n+2\n")
    with pytest.raises(BadPatch):
        apply(TEXT, "@@ -1,2 +1,1 @@\n-one\n+1\n")
