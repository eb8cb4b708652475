# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from player.playlist import Playlist, Shelf
from player.tracks import Track

TEXT = "Ada - Loops (3:05)\nBob - Bass (2:00)\n"


def test_parse():
    playlist = Playlist.parse("both", TEXT)
    assert playlist.seconds == 305
    assert str(playlist.tracks[0]) == "Ada - Loops (3:05)"


def test_new_playlists_are_empty():
    shelf = Shelf()
    shelf.create("one").add(Track("Ada", "Loops", 185))
    assert len(shelf.create("two")) == 0


def test_move():
    playlist = Playlist.parse("both", TEXT)
    playlist.move(0, 1)
    assert [t.artist for t in playlist.tracks] == ["Bob", "Ada"]
