# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations


import pytest

from newsletter import send_issue
from newsletter.batches import batches


@pytest.mark.parametrize("count", range(0, 9))
def test_every_count(count):
    got = list(batches(range(count), 3))
    assert [item for batch in got for item in batch] == list(range(count))
    assert all(got) and all(len(batch) == 3 for batch in got[:-1])


def test_calls():
    calls = []

    def deliver(batch):
        calls.append(list(batch))
        return batch[-1:]

    report = send_issue((f"{c}@x.org" for c in "abcde"), deliver, size=2, blocked=["b@x.org"])
    assert [len(batch) for batch in calls] == [2, 2]
    report = send_issue((f"{c}@x.org" for c in "abc"), deliver, size=2)
    assert calls[2:] == [["a@x.org", "b@x.org"], ["c@x.org"]]
    assert (report.sent, report.calls, report.refused) == (1, 2, ["b@x.org", "c@x.org"])


def test_few_readers():
    assert send_issue(["a@x.org"], lambda batch: []).sent == 1


def test_no_call_without_readers():
    assert send_issue([], lambda batch: []).calls == 0


def test_batches_are_lists_of_their_own():
    got = []
    for batch in batches("abcd", 2):
        got.append(batch)
    assert got == [["a", "b"], ["c", "d"]]


def test_size():
    with pytest.raises(ValueError):
        list(batches([1], 0))


def test_batches_of_one():
    assert list(batches("abc", 1)) == [["a"], ["b"], ["c"]]
    assert list(batches([], 1)) == []


@pytest.mark.parametrize("items", [[None], [1, None, 3], [0, "", None, (), False], [None] * 7, ["x", None, None, None]])
def test_items_of_any_kind(items):
    for size in (1, 2, 3, 10):
        got = list(batches(iter(items), size))
        assert [item for batch in got for item in batch] == items
        assert [len(batch) for batch in got[:-1]] == [size] * (len(got) - 1)
        assert all(isinstance(batch, list) and batch for batch in got)


def test_items_are_read_as_they_are_needed():
    numbers = iter(range(9))
    got = batches(numbers, 3)
    assert next(got) == [0, 1, 2]
    assert next(numbers) == 3
    assert list(got) == [[4, 5, 6], [7, 8]]
