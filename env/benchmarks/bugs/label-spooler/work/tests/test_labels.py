# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from labels import MemoryPrinter, PrinterError, Spooler


def spooler(paper, *texts):
    result = Spooler(MemoryPrinter(paper))
    for text in texts:
        result.submit(text)
    return result


def test_all():
    assert spooler(9, "a", "b", "c").run() == 3


def test_portions():
    one = spooler(9, "a", "b", "c")
    assert [one.run(limit=2), one.run(limit=2)] == [2, 1]


def test_no_paper():
    one = spooler(1, "a", "b", "c")
    with pytest.raises(PrinterError):
        one.run()
    assert [job.state for job in one.jobs.values()] == ["printed", "failed", "waiting"]


def test_no_paper_in_a_portion():
    one = spooler(3, "a", "b", "c", "d", "e")
    assert one.run(limit=2) == 2
    with pytest.raises(PrinterError):
        one.run(limit=2)
