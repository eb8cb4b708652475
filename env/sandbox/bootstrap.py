"""Loads the guest into a sandbox: a short program on the command line reads the rest of the code from the channel.

So any image with a Python works, no engine needs a mount, and no file of stackrank is visible to an agent.
"""

from __future__ import annotations

import functools
import io
import marshal
import zipfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import MAGIC_NUMBER, source_hash

# Reads "<size>\n" and a zip of that size from standard input, keeps it in an anonymous file and runs it from there.
# Imports leave no garbage, so collection is off until `main` turns it on.
LOADER = """
import gc,os,sys
gc.disable()
def exactly(n):
    parts=[]
    while n:
        part=os.read(0,n)
        if not part: os._exit(0)
        parts.append(part); n-=len(part)
    return b"".join(parts)
size=b""
while not size.endswith(b"\\n"): size+=exactly(1)
fd=os.memfd_create("guest",os.MFD_CLOEXEC)
data=exactly(int(size))
while data: data=data[os.write(fd,data):]
sys.path.insert(0,"/proc/self/fd/%d"%fd)
from guest.PROGRAM import main
main(fd)
"""

_CHILD_MAIN = """
import sys
from guest.child import child
sys.exit(child(sys.argv[1:]))
"""


def loader_command(python: str, first: str = "", program: str = "main") -> list[str]:
    """Return the command that waits for the guest's code on its standard input.

    `first`: code to run before that. `program`: the module of the guest whose `main` is called.
    """
    return [python, "-I", "-S", "-B", "-c", first + LOADER.replace("PROGRAM", program)]


@functools.cache
def guest_code() -> bytes:
    """Return what the loader expects: a line with the size, and a zip of the guest package."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__main__.py", _CHILD_MAIN)
        for name, source in sorted(_modules(resources.files("stackrank.env.sandbox.guest"), "guest/")):
            archive.writestr(name, source)
            archive.writestr(f"{name}c", _compiled(source, name))
    data = buffer.getvalue()
    return b"%d\n" % len(data) + data


def _modules(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path in the archive and the source of every module below a folder."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _modules(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield prefix + entry.name, entry.read_bytes()


def _compiled(source: bytes, name: str) -> bytes:
    """Return a module as a .pyc file (PEP 552: magic number, flags 1 for an unchecked hash, the hash, the code).

    Compiling would take most of the guest's start. A sandbox with another Python version uses the source.
    """
    code = compile(source, f"/{name}", "exec", dont_inherit=True)
    return MAGIC_NUMBER + (1).to_bytes(4, "little") + source_hash(source) + marshal.dumps(code)
