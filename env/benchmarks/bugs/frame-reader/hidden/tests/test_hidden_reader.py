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


def test_frames_come_as_soon_as_they_are_complete():
    read = []

    def pieces():
        for frame in (Frame(1, b"a"), LONG, Frame(3, b"")):
            read.append(frame.type)
            yield encode(frame)
        raise ConnectionResetError("gone")

    frames = iter(Reader(pieces()))
    for expected in ([1], [1, 7], [1, 7, 3]):
        assert next(frames).type == expected[-1] and read == expected
    with pytest.raises(ConnectionResetError):
        next(frames)


def test_other_errors_go_on():
    def pieces(data):
        yield data
        raise ConnectionResetError("gone")

    reader = Reader(pieces(encode(Frame(1, b"a")) + encode(LONG)[:30]))
    found = []
    with pytest.raises(ConnectionResetError):
        for frame in reader:
            found.append(frame)
    assert found == [Frame(1, b"a")] and not reader.broken
    with pytest.raises(ValueError):
        read_all([b"\xa5\x01" + b"\x80" * 5 + b"\x00"])


def test_a_source_remembers_how_many():
    data = bytes(range(256))
    for size in (1, 3, 256):
        source, at = Source([data[k : k + size] for k in range(0, 256, size)]), 0
        for count in (0, 1, 5, 0, 17, 100):
            assert source.take(count) == data[at : at + count]
            at += count
            assert source.byte() == data[at] and source.byte_or_none() == data[at + 1]
            at += 2
            assert source.position == at
        while at < 256:
            assert source.byte() == data[at]
            at += 1
        for _ in range(2):
            with pytest.raises(EOFError):
                source.byte()
            assert source.byte_or_none() is None and source.position == 256


def test_streams_cut_anywhere():
    frames = [Frame(0, b""), Frame(0xA5, b"\xa5\x00"), Frame(255, bytes(200)), Frame(0, b"\x00")]
    data, ends = b"", []
    for frame in frames:
        data += encode(frame)
        ends.append(len(data))
    for cut in range(len(data) + 1):
        for size in (1, 7, 999):
            reader = Reader(iter([data[k : min(k + size, cut)] for k in range(0, cut, size)]))
            whole = [frame for frame, end in zip(frames, ends) if end <= cut]
            assert list(reader) == whole
            assert reader.broken is (cut not in [0, *ends])
            assert (reader.skipped, reader.damaged) == (0, 0)
            assert list(reader) == []
