# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from mdinline import render, render_inline


def test_blocks():
    text = "# Title\n\n- one\n- *two*\n\nLast\nlines"
    assert render(text) == "<h1>Title</h1>\n<ul><li>one</li><li><em>two</em></li></ul>\n<p>Last lines</p>"


def test_code_is_left_alone():
    assert render_inline("use `a < *b*` here") == "use <code>a &lt; *b*</code> here"


def test_links_and_escapes():
    assert render_inline(r"[go **on**](http://x/a_*b*) \*") == '<a href="http://x/a_*b*">go <strong>on</strong></a> *'


def test_reference_paragraph():
    words = [f"word{chr(97 + i)}" for i in range(12)]
    text = "Known: " + ", ".join(f"`{word}`" for word in words) + "."
    html = "<p>Known: " + ", ".join(f"<code>{word}</code>" for word in words) + ".</p>"
    assert render(text) == html


def test_multiplication_table():
    row = ", ".join(rf"3\*{i} = {3 * i}" for i in range(1, 16))
    assert render(row) == "<p>" + ", ".join(f"3*{i} = {3 * i}" for i in range(1, 16)) + "</p>"
