# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from mdinline import render, render_inline


@pytest.mark.parametrize("count", [1, 9, 10, 11, 25, 120])
def test_many_code_words(count):
    text = " ".join(f"`w{i}w`" for i in range(count))
    assert render_inline(text) == " ".join(f"<code>w{i}w</code>" for i in range(count))


@pytest.mark.parametrize("count", [2, 15, 101])
def test_digits_right_behind_code(count):
    text = " ".join(f"`x{i}x`{d}" for i in range(count) for d in (0, 5))
    html = " ".join(f"<code>x{i}x</code>{d}" for i in range(count) for d in (0, 5))
    assert render_inline(text) == html


def test_many_links():
    text = "".join(f"[l{i}](http://h/{i})" for i in range(13))
    assert render_inline(text) == "".join(f'<a href="http://h/{i}">l{i}</a>' for i in range(13))


def test_many_escapes_between_digits():
    assert render_inline("".join(rf"{i}\*{i}" for i in range(20))) == "".join(f"{i}*{i}" for i in range(20))


def test_code_in_a_link_and_a_link_in_code():
    assert render_inline("[`f`](http://x)") == '<a href="http://x"><code>f</code></a>'
    assert render_inline("`[f](x)`") == "<code>[f](x)</code>"


def test_control_characters_do_not_break_anything():
    html = render_inline("`a` \x020\x03 \x020 \x02")
    assert html.startswith("<code>a</code> ")
    assert html.count("<code>") == 1


def test_escape_inside_an_address():
    assert render_inline(r"[x](http://h/a\_b)") == '<a href="http://h/a_b">x</a>'


def test_emphasis_and_entities():
    assert render_inline("a & b < *c* **d**") == "a &amp; b &lt; <em>c</em> <strong>d</strong>"
    assert render_inline("``a ` b``") == "<code>a ` b</code>"


def test_very_many_pieces():
    row = " ".join(r"\*0" for _ in range(320))
    assert render_inline(row) == " ".join("*0" for _ in range(320))


def test_a_row_of_the_table():
    row = ", ".join(rf"7\*{n}" for n in range(1, 13))
    html = render_inline(row)
    assert html == "7*1, 7*2, 7*3, 7*4, 7*5, 7*6, 7*7, 7*8, 7*9, 7*10, 7*11, 7*12"
    assert html.split(", ")[1] == "7*2"


def test_code_before_a_digit():
    words = "".join(f"`{word}`0" for word in "abcdefghijkl")
    assert render_inline(words)[:29] == "<code>a</code>0<code>b</code>"
    assert render_inline(words).count("0") == 12
