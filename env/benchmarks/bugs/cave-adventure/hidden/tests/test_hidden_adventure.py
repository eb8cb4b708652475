# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from adventure.engine import new_game


def test_hall_has_three_exits():
    game = new_game("cave")
    assert game.do("go in").endswith("Exits: down, north, out.")


def test_well_and_back():
    game = new_game("cave")
    game.do("go in")
    assert "You see: rope." in game.do("go down")
    assert game.do("take rope") == "Taken."
    assert "dripping hall" in game.do("go up")


def test_gate_is_locked_without_key():
    game = new_game("cave")
    game.do("go in")
    assert "rusty gate" in game.do("go north")
    assert game.do("go north") == "It is locked."
    assert game.here == "gate"


def test_treasury_with_key():
    game = new_game("cave")
    for line in ("take iron key", "go in", "go north"):
        game.do(line)
    assert "You see: crown." in game.do("go north")
    assert "rusty gate" in game.do("go south")


def test_every_exit_leads_to_a_room():
    from adventure.stories.cave import STORY
    assert sorted(STORY["rooms"]) == ["gate", "hall", "mouth", "treasury", "well"]
    for room in STORY["rooms"].values():
        assert isinstance(room["text"], str)
        for target in room["exits"].values():
            assert target in STORY["rooms"]


def test_tutorial_still_works():
    game = new_game("tutorial")
    game.do("take lamp")
    game.do("go in")
    assert game.do("drop lamp") == "Dropped."
    assert "You see: lamp." in game.do("look")
