# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from letters import render
from letters.errors import TemplateError


def test_loop():
    assert render("{each n in ns}<{n}>{end}!", {"ns": [1, 2]}) == "<1><2>!"


def test_macro_with_parameters():
    assert render("{macro bold t}*{t}*{end}{call bold 'a'} {call bold x}", {"x": 7}) == "*a* *7*"


def test_sender_inside_the_loop():
    source = "{macro sender}-- {name}{end}{call sender}{each name in guests}\nDear {name}, {call sender}{end}"
    wanted = "-- Acme\nDear Ann, -- Acme\nDear Bob, -- Acme"
    assert render(source, {"name": "Acme", "guests": ["Ann", "Bob"]}) == wanted


def test_number_of_values():
    with pytest.raises(TemplateError):
        render("{macro m a}{a}{end}{call m}", {})
