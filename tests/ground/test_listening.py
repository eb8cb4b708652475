"""Names by which a server may be called."""

from __future__ import annotations

import pytest

from stackrank.host.listening import is_known_host


@pytest.mark.parametrize(
    "header",
    [
        "127.0.0.1:8501",
        "127.0.0.1",
        "[::1]:8501",
        "localhost",
        "LOCALHOST:1",
        "Board.example:443",
        "board.example.",
    ],
)
def test_known_names(header: str) -> None:
    assert is_known_host(header, {"board.example"})


@pytest.mark.parametrize(
    "header",
    [
        "",
        ":8501",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8501",
        "board.example.evil",
        "evil:127.0.0.1",
    ],
)
def test_other_names(header: str) -> None:
    assert not is_known_host(header, {"board.example"})
