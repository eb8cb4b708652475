# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from frames.reader import Frame, Reader, encode, read_all
from frames.source import Source
from frames.varint import read_varint, write_varint

LONG = Frame(7, bytes(range(100)) * 3)


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 100, 304])
def test_broken_anywhere(cut):
    reader = Reader([encode(Frame(1, b"a")), encode(LONG)[:cut]])
    assert list(reader) == [Frame(1, b"a")]
    assert reader.broken


def test_not_broken():
    assert len(encode(LONG)) == 305
    reader = Reader([encode(LONG), b"tail"])
    assert list(reader) == [LONG] and not reader.broken and reader.skipped == 4


def test_source_at_the_end():
    source = Source([b"abc"])
    assert source.byte() == 97 and source.take(2) == b"bc" and source.take(0) == b""
    with pytest.raises(EOFError):
        source.byte()
    with pytest.raises(EOFError):
        Source([b"a", b"b"]).take(3)


def test_cut_number():
    with pytest.raises(EOFError):
        read_varint(Source([b"\x80\x80"]))
    with pytest.raises(ValueError):
        read_varint(Source([b"\x80" * 6]))
    assert read_varint(Source([write_varint(300)])) == 300


def test_nothing():
    assert read_all([]) == []
    assert read_all([b"", b"abc"]) == []


def test_a_broken_frame_is_not_a_damaged_one():
    reader = Reader([encode(Frame(1, b"a")), encode(LONG)[:20]])
    assert list(reader) == [Frame(1, b"a")]
    assert (reader.skipped, reader.damaged, reader.broken) == (0, 0, True)
