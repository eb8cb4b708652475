# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from tracks import MemoryStorage, MissingTrack, Mixer


@pytest.fixture
def storage():
    return MemoryStorage({"drums": [1, 2, 3, 4, 5], "bass": [10, 10], "voice": [120, 0, 0]})


def test_mix(storage):
    mixer = Mixer(storage, {"song": ["drums", "bass", "voice"]})
    assert mixer.mix("song") == [127, 12, 3, 4, 5]
    assert storage.open_handles == []


def test_preview_closes_too(storage):
    assert Mixer(storage, {"song": ["drums"]}).preview("song", 2) == [1, 2]
    assert storage.open_handles == []


def test_asking_for_a_broken_song_again_and_again(storage):
    mixer = Mixer(storage, {"broken": ["drums", "bass", "horn"], "good": ["bass"]})
    for _ in range(5):
        with pytest.raises(MissingTrack):
            mixer.mix("broken")
    assert mixer.mix("good") == [10, 10]
