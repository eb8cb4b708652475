# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from tiles.game import Game

MAP = """
S.....
.ab#..
.cd...
...~ef
....gh
"""


def test_start():
    assert Game(MAP).screen() == ["@..", ".ab", ".cd"]


def test_in_the_middle():
    game = Game(MAP)
    assert game.walk("eess") == 4
    assert game.screen() == ["ab#", "c@.", "..~"]


def test_right_border():
    game = Game(MAP)
    assert game.walk("eeeeee") == 5
    assert game.screen()[0] == "..@"


def test_walls():
    game = Game(MAP)
    assert game.walk("seee") == 3
