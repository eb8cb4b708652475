# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from adventure.engine import new_game


def test_tutorial_walk():
    game = new_game("tutorial")
    assert game.do("take lamp") == "Taken."
    assert "tidy kitchen" in game.do("go in")
    assert game.do("bag") == "You carry: lamp."


def test_unknown_commands():
    game = new_game("tutorial")
    assert game.do("dance") == "I do not understand."
    assert game.do("go up") == "You cannot go that way."


def test_cave_starts_at_the_mouth():
    game = new_game("cave")
    assert "mouth of a cave" in game.do("look")
    assert "iron key" in game.do("look")


def test_cave_hall():
    game = new_game("cave")
    assert "dripping hall" in game.do("go in")
