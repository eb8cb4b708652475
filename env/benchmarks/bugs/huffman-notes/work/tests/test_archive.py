# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from huffman import pack, unpack

TEXT = "milk, eggs, bread & butter; call Bo about the tent"


def test_round_trip():
    assert unpack(pack(TEXT)) == TEXT
    assert unpack(pack("")) == ""


def test_smaller():
    assert len(pack("a" * 70 + "b" * 10)[2]) == 10


def test_dashes():
    assert unpack(pack("-" * 40)) == "-" * 40


def test_cut_off():
    size, codes, data = pack(TEXT)
    with pytest.raises(ValueError):
        unpack((size, codes, data[:-1]))
