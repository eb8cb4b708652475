# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from castle import BadWorld, Game, World, way


def test_the_way_back_from_afar() -> None:
    world = World()
    back = way(world, "great_loft", world.gate)
    assert len(back) == 21
    game = Game(world)
    game.play("south,south,east,east,east,east,east,south,east,east,east,north,east,south,east,east,east,south,south,south,south")
    assert game.here.key == "great_loft"
    game.play(",".join(back))
    assert game.here.key == world.gate


def test_the_way_back_from_near() -> None:
    assert len(way(World(), "red_stair", World().gate)) == 1


def test_things() -> None:
    game = Game(World("a: Hall\n    east b\n    * lamp\nb: Loft\n    west a", "a"))
    assert game.play("take lamp, east, drop lamp, look, take rope") == [
        "You have the lamp.",
        "Loft",
        "You leave the lamp.",
        "Loft. Doors: west. You see: lamp.",
        "There is no rope.",
    ]
    assert game.play("south, guide, dance, guide a, guide roof") == [
        "There is a wall.",
        "west",
        "What is dance?",
        "west",
        "The guide does not know it.",
    ]
    assert game.map.rows() == ["##"]


def test_worlds_that_are_none() -> None:
    for text in ("a: Hall\n    east b", "a: Hall\n    up a", "b: Loft"):
        with pytest.raises(BadWorld):
            World(text, "a")
