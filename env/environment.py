"""What has to be installed for a task to run: a Python, packages, and what set-up commands build from the source."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from stackrank.env.local_packages import identify
from stackrank.patches.contents import REGULAR, mode_of, stored_bytes

Files = Mapping[str, bytes]


def files_digest(files: Files) -> str:
    """Hash paths, contents and modes. A mapping that has a `digest` already is not read."""
    stored_digest = getattr(files, "digest", None)
    if isinstance(stored_digest, str):
        return stored_digest
    digest = hashlib.sha256()
    for path in sorted(files):
        content, mode = stored_bytes(files[path]), mode_of(files[path])
        name = path.encode("utf-8", "surrogateescape") + (b"" if mode == REGULAR else f"\0{mode}".encode())
        digest.update(name + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()


@dataclass(frozen=True)
class Environment:
    """An environment that sandboxes are started in. Built once for each digest, by the sandbox's backend."""

    python: str = ""
    """The Python version, such as `3.11`; empty: the sandbox's own."""
    requirements: tuple[str, ...] = ()
    """The requirements that pip installs. One may be the path of a folder or an archive on this machine."""
    setup: tuple[str, ...] = ()
    """Shell commands that are run in the workspace after that, with network access."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables, set during the build and in the sandbox."""
    prebuilt: str = ""
    """A container image in which all this is done already. Backends that can pull images use it instead."""
    repository: str = ""
    """The repository's folder in `prebuilt`; the files built there are taken over too."""
    source: Files = field(default_factory=dict, compare=False, repr=False)
    """The workspace that the set-up commands run in."""
    source_digest: str = ""
    """Digest of `source`; see `with_source`."""

    def with_source(self, files: Files) -> Environment:
        """Return this environment for the files of one task. Without set-up commands the files make no difference."""
        if not self.has_artefacts:
            return self
        return replace(self, source=files, source_digest=files_digest(files))

    @property
    def has_artefacts(self) -> bool:
        """Whether it depends on the source: it brings files for the workspace, which may be on Python's path then."""
        return bool(self.setup or self.prebuilt)

    @property
    def can_be_built(self) -> bool:
        """Whether the environment can be built without its prebuilt image."""
        return bool(self.requirements or self.setup) or not self.prebuilt

    @property
    def base(self) -> Environment:
        """The part that does not depend on the source, which many tasks share."""
        return Environment(self.python, self.requirements, (), self.variables)

    @cached_property
    def digest(self) -> str:
        """Hash of the environment: equal digests mean equal environments (on the same base)."""
        requirements = tuple(identify(self.requirements))
        parts = (self.python, requirements, self.setup, self.variables, self.prebuilt, self.source_digest)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.digest)
