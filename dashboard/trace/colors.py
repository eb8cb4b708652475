"""Split the lines of a source file into pieces, each with its kind; the browser colours the kinds."""

from __future__ import annotations

from pygments.lexers import get_lexer_for_filename
from pygments.token import Token
from pygments.util import ClassNotFound

from stackrank.wording import visible

_MOST = 200_000
"""The most characters of a file that is coloured; a longer one stays plain."""
_MOST_IN_LINE = 2_000
_KINDS = (
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Literal.String, "s"),
    (Token.Literal.Number, "n"),
    (Token.Comment, "c"),
    (Token.Name.Function, "f"),
    (Token.Name.Class, "f"),
)
Piece = tuple[str, str]
"""Kind (empty for ordinary code) and text."""


def colored(path: str, text: str, lines: list[str]) -> list[list[Piece]]:
    """Split `lines` of `text` into pieces, cut after 2,000 characters; plain if no language is known for `path`."""
    pieces = _pieces(path, text) if len(text) <= _MOST else []
    # Lexers may change line endings: then show the true text, without colours.
    if ["".join(part for _, part in line) for line in pieces] != lines:
        pieces = [[("", line)] if line else [] for line in lines]
    return [_cut(line) for line in pieces]


def _pieces(path: str, text: str) -> list[list[Piece]]:
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    lines: list[list[Piece]] = [[]]
    for token, value in lexer.get_tokens(visible(text)):
        kind = next((name for of, name in _KINDS if token in of), "")
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((kind, part))
    return lines


def _cut(line: list[Piece]) -> list[Piece]:
    room, pieces = _MOST_IN_LINE, []
    for kind, text in line:
        pieces.append((kind, text[:room]))
        room -= len(text)
        if room <= 0:
            break
    return pieces
