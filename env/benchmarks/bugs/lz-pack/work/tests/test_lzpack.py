# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from lzpack.packer import pack
from lzpack.tokens import PackError
from lzpack.unpacker import unpack

DRAWING = b"+------------+\n|            |\n|   ******   |\n|            |\n+------------+\n"


def test_text():
    text = b"the cat and the hat and the bat sat on the mat"
    assert unpack(pack(text)) == text
    assert len(pack(text)) < len(text)


def test_drawing():
    assert unpack(pack(DRAWING)) == DRAWING


def test_empty():
    assert unpack(pack(b"")) == b""


def test_cut_off():
    with pytest.raises(PackError):
        unpack(pack(b"abcabcdabcde")[:-1])
