# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from notescsv import CsvError, read_rows, read_table, write_table


def test_table():
    text = "day,who,note\r\n1,ann,\r\n2,bob,\"said \"\"hi\"\", left\"\r\n"
    assert read_table(text) == [
        {"day": "1", "who": "ann", "note": ""},
        {"day": "2", "who": "bob", "note": 'said "hi", left'},
    ]


def test_line_break_in_a_note():
    assert read_rows('a,"b\nc"\nd,e') == [["a", "b\nc"], ["d", "e"]]


def test_errors():
    with pytest.raises(CsvError, match="line 3: 2 fields expected, 1 found"):
        read_table("a,b\n1,2\n3\n")
    with pytest.raises(CsvError, match="line 2"):
        read_rows('a,b\nc,"d\ne')


def test_pasted_note():
    text = "day,note,who\n1,fine,ann\n2,first part\u2028second part,bob\n"
    assert read_table(text)[1] == {"day": "2", "note": "first part\u2028second part", "who": "bob"}
