# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from frames.reader import Frame, Reader, encode, read_all

HELLO, BYE = Frame(1, b"hello"), Frame(2, b"")


def test_two_frames_in_pieces():
    data = encode(HELLO) + encode(BYE)
    assert read_all([data[:3], data[3:4], b"", data[4:]]) == [HELLO, BYE]


def test_noise_and_damage():
    bad = bytearray(encode(HELLO))
    bad[-1] ^= 1
    reader = Reader([b"xy", encode(BYE), bytes(bad), encode(HELLO)])
    assert list(reader) == [BYE, HELLO]
    assert (reader.skipped, reader.damaged, reader.broken) == (2, 1, False)


def test_broken_off():
    reader = Reader([encode(HELLO), encode(BYE)[:-1]])
    assert list(reader) == [HELLO]
    assert reader.broken
