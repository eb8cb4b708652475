# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from tiles.camera import Camera, clamp
from tiles.game import Game
from tiles.world import World

MAP = """
S.....
.ab#..
.cd...
...~ef
....gh
"""


def test_right_border_whole_screen():
    game = Game(MAP)
    game.walk("eeeee")
    assert game.screen() == ["..@", "#..", "..."]


def test_lower_border():
    game = Game(MAP)
    assert game.walk("sssss") == 4
    assert game.screen() == [".cd", "...", "@.."]


def test_lower_right_corner():
    game = Game(MAP)
    game.walk("eeeeessss")
    assert game.screen() == ["...", "~ef", ".g@"]


def test_even_screen():
    camera = Camera(World(MAP), 4, 2)
    assert camera.corner(5, 4) == (2, 3)
    assert camera.view(5, 4) == [".~ef", "..g@"]
    assert camera.corner(2, 1) == (0, 0)
    assert camera.corner(3, 2) == (1, 1)


def test_map_smaller_than_the_screen():
    game = Game("S.\n.x\n", screen=9)
    assert game.screen() == ["@.", ".x"]
    game.walk("es")
    assert game.screen() == ["S.", ".@"]


def test_every_place_can_be_shown():
    world = World(MAP)
    camera = Camera(world, 3, 3)
    for y in range(world.height):
        for x in range(world.width):
            rows = camera.view(x, y)
            assert [len(row) for row in rows] == [3, 3, 3]
            assert sum(row.count("@") for row in rows) == 1


def test_clamp():
    assert [clamp(n, 2, 4) for n in (1, 2, 3, 4, 5)] == [2, 2, 3, 4, 4]
    assert clamp(5, 0, -1) == 0
