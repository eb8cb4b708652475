# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from bot import Bot, standard_commands
from bot.errors import CommandError, UnknownCommand
from bot.registry import Registry
from bot.scores import NotPlayed, Scores


def raising(error):
    def handler(arguments):
        raise error

    return handler


@pytest.mark.parametrize("error", [KeyError("x"), IndexError("y"), LookupError("z"), ValueError("v")])
def test_faults_of_commands(error):
    registry = Registry()
    registry.add("odd", raising(error))
    bot = Bot(registry)
    assert bot.answer("!odd") == "something went wrong"
    assert bot.faults == [error]


def test_missing_argument_is_a_fault():
    bot = Bot(standard_commands(Scores()))
    assert bot.answer("!score") == "something went wrong"
    assert isinstance(bot.faults[0], IndexError)


def test_errors_for_the_user():
    bot = Bot(standard_commands(Scores()))
    assert bot.answer("!t") == "nobody has played"
    assert bot.answer("!s x") == "nobody called x has played"
    assert bot.faults == []


def test_call_raises_what_the_command_raises():
    registry = standard_commands(Scores())
    with pytest.raises(NotPlayed):
        registry.call("score", ["x"])
    with pytest.raises(UnknownCommand) as caught:
        registry.call("x", [])
    assert caught.value.name == "x"


def test_command_that_calls_another():
    registry = Registry()
    registry.add("outer", lambda arguments: registry.call(arguments[0], []))
    registry.add("inner", raising(CommandError("told")))
    bot = Bot(registry)
    assert bot.answer("!outer inner") == "told"
    assert bot.answer("!outer other") == "unknown command: other"
    assert bot.answer("!other") == "unknown command: other"


def test_short_name_without_command():
    registry = standard_commands(Scores())
    assert Bot(registry).answer("!q") == "unknown command: q"
    assert Bot(registry).answer("!H") == "commands: help, score, top, win"
