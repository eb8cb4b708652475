# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from castle import Game, World, way
from castle.world import DIRECTIONS

STEPS = {
    "red_stair": 1,
    "stone_vault": 2,
    "low_armoury": 3,
    "blue_cellar": 4,
    "long_hall": 5,
    "cold_vault": 6,
    "red_armoury": 7,
    "blue_chamber": 5,
    "mirror_chamber": 4,
    "new_passage": 3,
    "painted_tower": 4,
    "south_chamber": 7,
    "high_library": 8,
    "old_passage": 9,
    "north_garden": 8,
    "small_bridge": 6,
    "painted_vault": 7,
    "south_chapel": 4,
    "upper_loft": 5,
    "inner_armoury": 6,
    "upper_chapel": 9,
    "south_hall": 10,
    "cold_stair": 11,
    "dark_library": 13,
    "south_stair": 8,
    "north_hall": 5,
    "cold_cellar": 6,
    "lower_chamber": 7,
    "stone_stair": 10,
    "outer_kitchen": 11,
    "cold_chapel": 12,
    "broken_kitchen": 12,
    "small_library": 9,
    "outer_chapel": 6,
    "great_vault": 7,
    "green_armoury": 8,
    "small_chamber": 11,
    "broken_gallery": 14,
    "south_armoury": 13,
    "small_hall": 11,
    "broken_tower": 10,
    "north_gallery": 7,
    "high_court": 8,
    "dusty_vault": 9,
    "small_chapel": 10,
    "inner_loft": 15,
    "green_gallery": 18,
    "great_passage": 12,
    "red_library": 15,
    "dark_court": 14,
    "new_kitchen": 9,
    "silver_gallery": 10,
    "long_armoury": 11,
    "silent_vault": 16,
    "high_armoury": 17,
    "lower_cellar": 13,
    "stone_loft": 14,
    "great_garden": 13,
    "new_garden": 10,
    "old_tower": 11,
    "high_gallery": 16,
    "inner_vault": 17,
    "blue_armoury": 18,
    "green_stair": 16,
    "small_loft": 15,
    "silver_chamber": 12,
    "lower_kitchen": 11,
    "inner_garden": 12,
    "stone_gallery": 15,
    "low_hall": 20,
    "long_passage": 19,
    "silver_chapel": 15,
    "stone_hall": 14,
    "low_chapel": 13,
    "painted_passage": 14,
    "cold_armoury": 13,
    "lower_bridge": 14,
    "lower_loft": 19,
    "long_court": 20,
    "north_cellar": 20,
    "inner_chapel": 19,
    "great_tower": 18,
    "north_chamber": 15,
    "small_cellar": 14,
    "dusty_loft": 17,
    "upper_passage": 18,
    "great_cellar": 19,
    "new_armoury": 21,
    "mirror_cellar": 20,
    "great_chamber": 17,
    "inner_kitchen": 16,
    "inner_hall": 15,
    "red_kitchen": 16,
    "upper_stair": 19,
    "green_loft": 20,
    "lower_tower": 22,
    "green_hall": 19,
    "blue_stair": 18,
    "painted_cellar": 17,
    "blue_bridge": 18,
    "upper_cellar": 19,
    "long_gallery": 20,
    "great_loft": 21,
}


def test_steps_to_the_gate() -> None:
    world = World()
    assert {key: len(way(world, key, world.gate)) for key in STEPS} == STEPS


def test_steps_from_the_gate() -> None:
    world = World()
    assert {key: len(way(world, world.gate, key)) for key in STEPS} == STEPS


def test_every_door_leads_back() -> None:
    world = World()
    for room in world.rooms.values():
        for direction, target in room.doors.items():
            assert world.rooms[target].doors.get(DIRECTIONS[direction]) == room.key, (room.key, direction)


@pytest.mark.parametrize("direction", ['east'])
def test_doors_of_one_room(direction: str) -> None:
    game = Game()
    game.play("south,south,south,south,south,south,south,east,north,east,south,east,east,north,east,east,south,west")
    assert game.here.name == "Green Gallery"
    there = game.say(direction)
    assert there == {'east': 'High Armoury'}[direction]
    assert game.say(DIRECTIONS[direction]) == "Green Gallery"


def test_things_are_where_they_were() -> None:
    world = World()
    found = {thing: room.name for room in world.rooms.values() for thing in room.things}
    assert found == {'lamp': 'North Garden', 'rope': 'Inner Kitchen', 'key': 'High Library', 'coin': 'Dark Court', 'crown': 'Inner Armoury', 'sword': 'Upper Cellar', 'book': 'Low Armoury', 'bell': 'Painted Vault', 'rose': 'Green Stair', 'mask': 'Small Chamber', 'flute': 'South Armoury', 'ring': 'Long Passage', 'cup': 'Small Hall', 'map': 'North Gallery', 'shield': 'Great Passage', 'drum': 'New Garden'}
    assert len(world.rooms) == 104
