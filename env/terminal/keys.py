"""The keys of a terminal and what they send; see console_codes(4) and terminfo's `linux`."""

from __future__ import annotations

_NAMED = {
    "enter": "\r", "tab": "\t", "backspace": "\x7f", "escape": "\x1b", "space": " ", "shift-tab": "\x1b[Z",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
    "home": "\x1b[1~", "insert": "\x1b[2~", "delete": "\x1b[3~", "end": "\x1b[4~", "page-up": "\x1b[5~",
    "page-down": "\x1b[6~",
    "f1": "\x1b[[A", "f2": "\x1b[[B", "f3": "\x1b[[C", "f4": "\x1b[[D", "f5": "\x1b[[E", "f6": "\x1b[17~",
    "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
}  # fmt: skip
_OTHERWISE = {"esc": "escape", "return": "enter", "del": "delete", "pageup": "page-up", "pagedown": "page-down",
              "eof": "ctrl-d"}  # fmt: skip


def key_sequences(names: str) -> list[str]:
    """Return what each of these keys sends. `names`: names separated by spaces, such as `ctrl-c` or `down down enter`,
    or single characters. Raises ValueError with a sentence."""
    sequences = []
    for name in names.split():
        key = name if len(name) == 1 else name.lower().replace("^", "ctrl-").replace("ctrl+", "ctrl-")
        key = _OTHERWISE.get(key, key)
        letter = key.removeprefix("ctrl-")
        if len(key) == 1:
            sequences.append(key)
        elif key in _NAMED:
            sequences.append(_NAMED[key])
        elif key.startswith("ctrl-") and len(letter) == 1 and "@" <= letter.upper() <= "_":
            sequences.append(chr(ord(letter.upper()) & 0x1F))
        else:
            raise ValueError(
                f"unknown key {name!r}: use {', '.join(_NAMED)}, ctrl- with a letter, or a single character; "
                "`text` types words"
            )
    return sequences
