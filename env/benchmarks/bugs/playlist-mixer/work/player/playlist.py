# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lists of tracks and a shelf to keep them on."""
from __future__ import annotations

from typing import Dict, List

from player.tracks import Track


class Playlist:
    """Tracks in the order they are played. Each playlist has tracks of its own:
    changing one never changes another, nor what it was made from."""

    def __init__(self, title: str, tracks: List[Track] = []) -> None:
        self.title = title
        self.tracks = tracks

    @classmethod
    def parse(cls, title: str, text: str) -> Playlist:
        """Read one track from each line that is not blank."""
        return cls(title, [Track.parse(line) for line in text.splitlines() if line.strip()])

    def __len__(self) -> int:
        return len(self.tracks)

    @property
    def seconds(self) -> int:
        """Playing time."""
        return sum(track.seconds for track in self.tracks)

    def add(self, track: Track) -> None:
        """Put a track at the end."""
        self.tracks.append(track)

    def move(self, old: int, new: int) -> None:
        """Move the track at one place to another place."""
        self.tracks.insert(new, self.tracks.pop(old))

    def fork(self, title: str) -> Playlist:
        """A new playlist that starts with the same tracks."""
        return Playlist(title, self.tracks)

    def without_repeats(self) -> Playlist:
        """A new playlist of the same title with the first occurrence of each track."""
        return Playlist(self.title, list(dict.fromkeys(self.tracks)))


class Shelf:
    """Playlists by title."""

    def __init__(self) -> None:
        self._lists: Dict[str, Playlist] = {}

    def create(self, title: str) -> Playlist:
        """Put a new, empty playlist on the shelf; ValueError if the title is taken."""
        if title in self._lists:
            raise ValueError("there is a playlist " + title)
        self._lists[title] = Playlist(title)
        return self._lists[title]

    def keep(self, playlist: Playlist) -> None:
        """Put a playlist on the shelf, in place of one with the same title."""
        self._lists[playlist.title] = playlist

    def mix(self, title: str, sources: List[str]) -> Playlist:
        """A new playlist on the shelf: tracks of the sources in turn until all are used up."""
        mixed = self.create(title)
        queues = [list(self._lists[name].tracks) for name in sources]
        while any(queues):
            for queue in queues:
                if queue:
                    mixed.add(queue.pop(0))
        return mixed

    def overview(self) -> List[str]:
        """Title, number of tracks and playing time of each playlist, by title."""
        return [
            "%s: %d tracks, %d:%02d" % ((title, len(pl)) + divmod(pl.seconds, 60))
            for title, pl in sorted(self._lists.items())
        ]
