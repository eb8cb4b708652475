"""The program that forks the sandboxes of an environment."""

from __future__ import annotations

from .core import factory, warm_python  # noqa: F401 so that every sandbox has them
from .debugging import evaluation, terminal  # noqa: F401
from .debugging.pdb import debugger  # noqa: F401
from .main import main as guest

__all__ = ["guest", "main"]


def main(zip_fd: int) -> None:
    """Fork sandboxes on request; see `guest.core.factory`."""
    factory.serve(zip_fd, guest)
