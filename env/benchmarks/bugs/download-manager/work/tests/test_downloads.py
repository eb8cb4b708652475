# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from downloads import DownloadFailed, DownloadManager, Transport


def scripted(script):
    """An opener that plays, per address, a list of contents and errors (the last one repeats)."""
    left = {url: list(steps) for url, steps in script.items()}

    def opener(url):
        steps = left[url]
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        if isinstance(step, BaseException):
            raise step
        return step

    return opener


def test_first_mirror_serves():
    transport = Transport(scripted({"http://a/f": [b"data"]}))
    assert DownloadManager(transport, ["http://a/", "http://b"]).download("f") == b"data"
    assert transport.calls == ["http://a/f"]


def test_interrupted_transfer_is_tried_again_with_growing_pauses():
    pauses = []
    transport = Transport(scripted({"http://a/f": [TimeoutError(), TimeoutError(), b"data"]}))
    assert DownloadManager(transport, ["http://a"], pause=pauses.append).download("f") == b"data"
    assert pauses == [1.0, 2.0]


def test_missing_file_goes_to_the_next_mirror_at_once():
    transport = Transport(scripted({"http://a/f": [FileNotFoundError("404")], "http://b/f": [b"data"]}))
    assert DownloadManager(transport, ["http://a", "http://b"]).download("f") == b"data"
    assert transport.calls == ["http://a/f", "http://b/f"]


def test_mirror_that_is_switched_off_is_left_at_once():
    pauses = []
    transport = Transport(scripted({"http://a/f": [ConnectionRefusedError("refused")], "http://b/f": [b"data"]}))
    manager = DownloadManager(transport, ["http://a", "http://b"], pause=pauses.append)
    assert manager.download("f") == b"data"
    assert pauses == []
    assert transport.calls == ["http://a/f", "http://b/f"]


def test_no_mirror():
    transport = Transport(scripted({"http://a/f": [PermissionError("403")]}))
    with pytest.raises(DownloadFailed):
        DownloadManager(transport, ["http://a"]).download("f")
