# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from player.playlist import Playlist, Shelf
from player.tracks import Track

A, B, C = Track("A", "a", 60), Track("B", "b", 61), Track("C", "c", 62)


def test_fork_goes_its_own_way():
    base = Playlist("base", [A, B])
    other = base.fork("other")
    other.add(C)
    base.move(0, 1)
    assert base.tracks == [B, A]
    assert other.tracks == [A, B, C]


def test_argument_is_not_changed():
    given = [A]
    playlist = Playlist("p", given)
    playlist.add(B)
    assert given == [A]
    given.append(C)
    assert playlist.tracks == [A, B]


def test_direct_playlists():
    first = Playlist("first")
    first.add(A)
    assert Playlist("second").tracks == []
    empty = []
    Playlist("third", empty).add(B)
    assert empty == []


def test_mix():
    shelf = Shelf()
    shelf.keep(Playlist("x", [A, B, C]))
    shelf.keep(Playlist("y", [C]))
    assert shelf.mix("m", ["x", "y"]).tracks == [A, C, B, C]
    assert shelf.mix("n", ["y"]).tracks == [C]
    assert shelf.overview() == [
        "m: 4 tracks, 4:05", "n: 1 tracks, 1:02", "x: 3 tracks, 3:03", "y: 1 tracks, 1:02",
    ]


def test_without_repeats():
    playlist = Playlist("p", [A, B, A])
    assert playlist.without_repeats().tracks == [A, B]
    assert len(playlist) == 3


def test_title_taken():
    shelf = Shelf()
    shelf.create("x")
    with pytest.raises(ValueError):
        shelf.create("x")
