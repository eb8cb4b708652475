# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The manager: mirrors in order, several attempts at each."""
from __future__ import annotations

from typing import Callable, Sequence

from .errors import DownloadFailed, Interrupted, TransferError, Unavailable
from .transport import Transport


class DownloadManager:
    """Downloads files by name from the first mirror that serves them.

    An interrupted transfer is attempted again at the same mirror, up to `attempts` times in all, with a
    pause that doubles after each attempt. A mirror that is unavailable is left at once.
    """

    def __init__(
        self,
        transport: Transport,
        mirrors: Sequence[str],
        attempts: int = 4,
        first_pause: float = 1.0,
        pause: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        if not mirrors:
            raise ValueError("at least one mirror is needed")
        if attempts < 1:
            raise ValueError("at least one attempt is needed")
        self._transport = transport
        self._mirrors = [mirror.rstrip("/") for mirror in mirrors]
        self._attempts = attempts
        self._first_pause = first_pause
        self._pause = pause

    def download(self, name: str) -> bytes:
        """Return the content of the file `name`, or raise DownloadFailed caused by the last failure."""
        failures: list[TransferError] = []
        for mirror in self._mirrors:
            content = self._from_mirror(f"{mirror}/{name}", failures)
            if content is not None:
                return content
        raise DownloadFailed(name, failures) from failures[-1]

    def download_all(self, names: Sequence[str]) -> tuple[dict[str, bytes], dict[str, DownloadFailed]]:
        """Download several files; return those that arrived and the failures of the others."""
        arrived: dict[str, bytes] = {}
        failed: dict[str, DownloadFailed] = {}
        for name in names:
            try:
                arrived[name] = self.download(name)
            except DownloadFailed as error:
                failed[name] = error
        return arrived, failed

    def _from_mirror(self, url: str, failures: list[TransferError]) -> bytes | None:
        wait = self._first_pause
        for attempt in range(1, self._attempts + 1):
            try:
                return self._transport.fetch(url)
            except Unavailable as error:
                failures.append(error)
                return None
            except Interrupted as error:
                failures.append(error)
                if attempt < self._attempts:
                    self._pause(wait)
                    wait *= 2
        return None
