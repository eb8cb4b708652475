# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from tracks import MemoryStorage, MissingTrack, Mixer
from tracks.bundle import Bundle


def storage(limit=8):
    return MemoryStorage({name: [number] * 3 for number, name in enumerate("abcde", 1)}, limit)


@pytest.mark.parametrize("names", ["x", "ax", "abx", "xab", "axb", "abcdex"])
def test_nothing_stays_open(names):
    one = storage()
    with pytest.raises(MissingTrack) as caught:
        with Bundle(one, names):
            pytest.fail("block was entered")
    assert caught.value.args == ("x",)
    assert one.open_handles == []


def test_other_errors_of_the_storage():
    one = storage(limit=3)
    with pytest.raises(OSError):
        Mixer(one, {"big": list("abcd")}).preview("big")
    assert one.open_handles == []


def test_interrupted_while_opening():
    class Slow(MemoryStorage):
        def open(self, name):
            if name == "c":
                raise KeyboardInterrupt
            return super().open(name)

    one = Slow({"a": [1], "b": [2]})
    with pytest.raises(KeyboardInterrupt):
        Bundle(one, "abc").__enter__()
    assert one.open_handles == []


def test_latest_is_closed_first():
    one = storage()
    order = []
    with Bundle(one, "abc"):
        for handle in one.open_handles:
            handle.close = lambda handle=handle, close=handle.close: (order.append(handle.name), close())
    assert order == ["c", "b", "a"]


def test_all_open_in_the_block_and_closed_after_an_error():
    one = storage()
    with pytest.raises(ZeroDivisionError):
        with Bundle(one, "ab"):
            assert [handle.name for handle in one.open_handles] == ["a", "b"]
            1 / 0
    assert one.open_handles == []


def test_bundle_can_be_used_again():
    one = storage()
    bundle = Bundle(one, "ab")
    for _ in range(2):
        with bundle:
            assert list(bundle.blocks(2)) == [[[1, 1], [2, 2]], [[1], [2]]]


def test_bundle_can_be_used_again_after_a_failure():
    one = storage()
    bundle = Bundle(one, ["a", "f"])
    with pytest.raises(MissingTrack):
        bundle.__enter__()
    one._tracks["f"] = [9]
    with bundle:
        assert list(bundle.blocks(5)) == [[[1, 1, 1], [9]]]
