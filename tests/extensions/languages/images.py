"""Images of tool chains for Docker."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from stackrank.extensions.languages.toolchains import examine
from tests.support.shared_servers import shared_folder

SCRIPT = Path(__file__).parents[3] / "deploy" / "sandbox" / "build_toolchain.sh"


def build_image(language: str) -> str:
    """Build the image of a tool chain, unless it is there, and return its name: minutes, once on a machine."""
    environment = {**os.environ, "PYTHON": sys.executable}
    with (shared_folder() / f"image-{language}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run([SCRIPT, language], capture_output=True, text=True, env=environment, check=False)
    assert made.returncode == 0, made.stderr
    examine.cache_clear()  # another test may have looked before
    return made.stdout.strip()
