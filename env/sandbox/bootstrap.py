"""How the guest gets into a sandbox: a short program given on the command line reads the rest from the channel.

So any image with a Python serves, no engine needs a mount, and no file of ours lies where an agent can list it.
"""

from __future__ import annotations

import functools
import io
import marshal
import zipfile
from importlib import resources
from importlib.util import MAGIC_NUMBER, source_hash

# Reads "<size>\n" and a zip of that size from standard input, keeps it in an anonymous file and runs it from there.
# Nothing that is imported meanwhile is garbage; `main` begins to collect it.
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
    """The command that waits for the guest's code on its standard input.

    `first`: code that it runs before. `program`: the module of the guest whose `main` it runs.
    """
    return [python, "-I", "-S", "-B", "-c", first + LOADER.replace("PROGRAM", program)]


@functools.cache
def guest_code() -> bytes:
    """What the loader expects: size line and zip of the guest package."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__main__.py", _CHILD_MAIN)
        for entry in sorted(resources.files("stackrank.env.sandbox.guest").iterdir(), key=lambda each: each.name):
            if entry.name.endswith(".py"):
                source = entry.read_bytes()
                archive.writestr(f"guest/{entry.name}", source)
                archive.writestr(f"guest/{entry.name}c", _compiled(source, entry.name))
    data = buffer.getvalue()
    return b"%d\n" % len(data) + data


def _compiled(source: bytes, name: str) -> bytes:
    """The module as a .pyc file (PEP 552: magic number, flags 1 for a hash that nobody checks, the hash, the code).

    Compiling takes most of the guest's start. A sandbox whose Python is another version takes the source.
    """
    code = compile(source, f"/guest/{name}", "exec", dont_inherit=True)
    return MAGIC_NUMBER + (1).to_bytes(4, "little") + source_hash(source) + marshal.dumps(code)
