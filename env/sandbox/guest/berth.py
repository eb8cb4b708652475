"""The program of a container in which sandboxes are played one after another."""

from __future__ import annotations

from .core import berth
from .factory import guest  # with all that sandboxes need


def main(zip_fd: int) -> None:
    """Fork one sandbox after another; see `guest.core.berth`."""
    berth.serve(zip_fd, guest)
