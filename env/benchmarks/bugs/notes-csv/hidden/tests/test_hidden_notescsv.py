# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

import random

from notescsv import CsvError, physical_lines, read_rows, read_table, write_table

ODD = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]


@pytest.mark.parametrize("odd", ODD)
def test_odd_characters_in_fields(odd):
    assert read_rows(f"a{odd}b,c\nd,e{odd}\n{odd},f") == [[f"a{odd}b", "c"], ["d", f"e{odd}"], [odd, "f"]]


@pytest.mark.parametrize("odd", ODD)
def test_round_trip(odd):
    table = [{"a": f"x{odd}y", "b": 'q"q'}, {"a": "1\n2", "b": f"{odd}"}]
    assert read_table(write_table(["a", "b"], table)) == table


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings(ending):
    assert read_rows(ending.join(["a,b", "", "c,d", ""])) == [["a", "b"], ["c", "d"]]


def test_mixed_endings_and_quoted_ones_are_kept():
    assert read_rows('a,b\rc,d\r\n"e\r\nf",g\n"h\ri","j\n\nk"') == [
        ["a", "b"], ["c", "d"], ["e\r\nf", "g"], ["h\ri", "j\n\nk"],
    ]


def test_lines():
    assert list(physical_lines("a\r\n\r\nb\x0cc\n\rd\u2029")) == ["a\r\n", "\r\n", "b\x0cc\n", "\r", "d\u2029"]
    assert list(physical_lines("")) == []
    assert list(physical_lines("\n")) == ["\n"]


def test_error_line_numbers_count_real_lines():
    with pytest.raises(CsvError) as caught:
        read_table("a,b\n1\x0b,2\x85\n\"x\ny\",3\nfoo\n")
    assert caught.value.line == 5


@pytest.mark.parametrize("odd", [*ODD, " ", "\t", "\xa0", "\ufeff", "\0", "'"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_what_is_written_and_what_is_kept_at_the_ends(odd, separator):
    if odd != separator:
        fields = [odd, f"x{odd}", f"{odd}{odd}y", f"a{odd}b"]
        line = separator.join(fields)
        assert write_table(fields, [], separator) == line + "\r\n"
        for text in (line, line + "\n", line + "\r", line + "\r\n", "\n" + line + "\r\r\n\n"):
            assert read_rows(text, separator) == [fields]


def test_any_text_like_reading_sign_by_sign():
    chance = random.Random(4)
    for _ in range(400):
        text = "".join(chance.choice(["a", "\r", "\n", "\r\n", *ODD, "b,"]) for _ in range(chance.randint(0, 12)))
        lines, line = [], ""
        for at, sign in enumerate(text):
            line += sign
            if sign == "\n" or sign == "\r" and text[at + 1 : at + 2] != "\n":
                lines.append(line)
                line = ""
        lines += [line] if line else []
        assert list(physical_lines(text)) == lines
        assert next(physical_lines("a\n" + text)) == "a\n"
        assert read_rows(text) == [line.rstrip("\r\n").split(",") for line in lines if line.rstrip("\r\n")]
        fields = [text, '"' + text, "end"]
        assert read_rows(write_table(fields, [dict.fromkeys(fields, text)])) == [fields, [text] * 3]
