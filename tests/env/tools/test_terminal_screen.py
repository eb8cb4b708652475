"""What a screen shows of what programs print, and the keys."""

from __future__ import annotations

import random

import pytest

from stackrank.env.terminal.keys import key_sequences
from stackrank.env.terminal.screen import Screen, strip_escapes

# All that an emulator reacts to, and what is left of it when something is lost.
PIECES = (
    "\x1b", "[", "?", ";", "1", "99999", "H", "J", "K", "m", "r", "h", "l", "\n", "\r", "\t", "\b", "x", "日", "\x9b",
    "\x0e", "]", "P", "(", ")", "0", "%", "#", "8", "L", "M", "@", "S", "\x07", "\\", "g", "c", "n", "²", "\u0301",
    "\u200b", "7", " ", "6", "3", "4", "20", "\x1b[", "\x1b]0;", "\x1b[3;4r", "\x1b[4h", "\x1b[?7l", "$", ">", "é",
    "👩",
)  # fmt: skip


def shown(screen: Screen, *texts: str) -> str:
    screen.begin()
    for text in texts:
        screen.feed(text)
    return screen.seen()[0]


@pytest.mark.parametrize("seed", range(20))
def test_screen_shows_whatever_is_printed(seed: int) -> None:
    chance = random.Random(seed)
    screen = Screen(chance.choice((2, 10)), chance.choice((20, 40)))
    for _ in range(20):
        text = "".join(chance.choices(PIECES, k=100))
        picture = shown(screen, text)
        assert "\x1b" not in picture and "\r" not in picture and len(picture) < 10_000
        assert strip_escapes(text).count("\n") >= text.count("\n") and "\r" not in strip_escapes(text)
        if chance.random() < 0.2:
            screen.adapt(chance.randint(2, 20), chance.randint(20, 60))
        screen.put_right()
        # Nothing that was printed before spoils what comes after.
        assert shown(screen, "\r\nwell 日\r\n").endswith("well 日")


def test_a_line_that_is_drawn_anew_is_searched_as_another() -> None:
    assert strip_escapes("\rone\r\n\x1b[1G\rtwo\x1b[K\r\r\n") == "one\ntwo\n"
    assert strip_escapes("> \x1b[1G\x1b[0Jbreak\r\n10%\r\x1b[K20%") == "> \nbreak\n10%\n20%"
    assert (
        strip_escapes("\x1b[Gbreak", continues_line=True) == "\nbreak"
        and strip_escapes(" 6\r\n\r7", continues_line=True) == " 6\n7"
    )


def test_screen_does_not_depend_on_how_the_output_arrived() -> None:
    text = "a\x1b[31mred\x1b[0m\x1b]0;title\x07 \x1b[2D日本\r\n\x1b[?2004hb\x1bPnothing\x1b\\c" + "x" * 50
    expected = shown(Screen(10, 20), text)
    assert expected == "are日本\nbc" + "x" * 50
    for cut in range(len(text)):
        assert shown(Screen(10, 20), text[:cut], text[cut:]) == expected


def test_rows_that_left_the_screen_are_shown_once() -> None:
    screen = Screen(4, 20)
    assert shown(screen, "$ ") == "$"
    lines = "\r\n".join(f"line {number} " + "x" * 30 for number in range(9))
    expected = "$ seq\n" + lines.replace("\r", "") + "\n$"
    assert shown(screen, "seq\r\n", lines, "\r\n$ ") == expected
    assert shown(screen, "next\r\n") == "$ next"
    screen.begin()
    screen.feed("\x1b[H\x1b[2Jdrawn\x1b[3;1Hbelow")
    assert screen.seen() == ("drawn\n\nbelow", True)


def test_names_of_keys() -> None:
    assert key_sequences("ctrl-c") == ["\x03"] == key_sequences("^C") == key_sequences("Ctrl+C")
    assert key_sequences("escape : w q Enter") == ["\x1b", ":", "w", "q", "\r"]
    assert key_sequences("up EOF ctrl-[ G ctrl-\\") == ["\x1b[A", "\x04", "\x1b", "G", "\x1c"]
    for wrong in ("ctrl-", "ctrl-1", "hello", "f13", "ctrl-cc"):
        with pytest.raises(ValueError, match="unknown key"):
            key_sequences(wrong)
