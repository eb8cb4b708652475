# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from newsletter import send_issue
from newsletter.addresses import normal, unique


def readers(count):
    return [f"reader{number}@example.org" for number in range(count)]


def test_full_batches():
    report = send_issue(readers(200), lambda batch: [])
    assert (report.sent, report.calls) == (200, 2)


def test_230_readers():
    report = send_issue(readers(230), lambda batch: [])
    assert report.sent == 230


def test_unique():
    assert list(unique(["a@X.org", " a@x.org ", "b@x.org", "c@x.org"], ["c@x.ORG"])) == ["a@x.org", "b@x.org"]


def test_not_an_address():
    with pytest.raises(ValueError):
        normal("ann")
