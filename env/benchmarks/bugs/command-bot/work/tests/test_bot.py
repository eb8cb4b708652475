# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from bot import Bot, standard_commands
from bot.scores import Scores


@pytest.fixture
def bot():
    return Bot(standard_commands(Scores()))


def test_win_and_score(bot):
    assert bot.answer("!win ann 3") == "ann now has 3 points"
    assert bot.answer("!s ann") == "ann has 3 points"


def test_unknown_command(bot):
    assert bot.answer("!dance now") == "unknown command: dance"


def test_has_not_played(bot):
    assert bot.answer("!score eve") == "nobody called eve has played"


def test_fault(bot):
    assert bot.answer("!win ann many") == "something went wrong"
    assert [type(fault) for fault in bot.faults] == [ValueError]


def test_no_command(bot):
    assert bot.answer("hello") == "" and bot.answer("!") == ""
