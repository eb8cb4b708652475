"""The requests that concern the workspace's files, and commands: what every other request builds on."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from .disk import empty
from .files import Workspace
from .launcher import Launcher

Request = Dict[str, Any]
Reply = Tuple[Dict[str, Any], bytes]
ChangedFiles = List[Tuple[str, Optional[int], str]]
"""See `Workspace.news`."""


class CoreRequests:
    """One method `do_NAME` for each request."""

    def __init__(self, launcher: Launcher, lifeline: int = -1) -> None:
        """`lifeline`: the host's channel; when it hangs up, nobody waits for an answer any more."""
        self.workspace = Workspace("/")
        self.launcher = launcher
        self.lifeline = lifeline
        self.on_edit: List[Callable[[ChangedFiles], None]] = []
        """Called with the files that the agent, not a program under debugging, changed."""
        self.on_answer: List[Callable[[str], None]] = []
        """Called with the name of each request that was answered."""

    def do_hello(self, request: Request, body: bytes) -> Reply:
        """Set the workspace, the environment and the limits of all later commands."""
        os.makedirs(request["root"], exist_ok=True)
        self.workspace = Workspace(request["root"])
        os.chdir(self.workspace.root)
        confined = self.launcher.prepare(self.workspace.root, request["env"], dict(request["limits"]))
        return {
            "root": self.workspace.root,
            "python": self.launcher.python,
            "version": list(sys.version_info[:3]),
            "confined": confined,
        }, b""

    def do_ping(self, request: Request, body: bytes) -> Reply:
        """Show that the guest is alive."""
        return {}, b""

    def do_put(self, request: Request, body: bytes) -> Reply:
        """Fill the workspace, whose content then becomes the baseline."""
        if request["fresh"]:
            empty(self.workspace.root)
            # Process 1 is alone in its sandbox; elsewhere these folders are shared with others.
            if os.getpid() == 1:
                for folder in filter(os.path.isdir, ("/tmp", "/dev/shm")):
                    empty(folder)
        self.workspace.put(body, request["built"])
        if request["built"]:
            self.launcher.end_warm()  # only now are the workspace's packages on its path
        self.launcher.expect(body)
        return {}, b""

    def do_read(self, request: Request, body: bytes) -> Reply:
        """Return a file's content."""
        return {}, self.workspace.read(request["path"])

    def do_resolve(self, request: Request, body: bytes) -> Reply:
        """Return where a path really leads, relative to the workspace."""
        return {"path": self.workspace.relative(self.workspace.resolve(request["path"]))}, b""

    def do_edit(self, request: Request, body: bytes) -> Reply:
        """Replace lines of a file."""
        text = body.decode("utf-8")
        reply, content = self.workspace.edit(request["path"], text, request["start"], request["end"])
        self.report_edit(reply["changed_files"])
        return reply, content

    def do_restore(self, request: Request, body: bytes) -> Reply:
        """Write these bytes to a file, or remove it."""
        changed = self.workspace.restore(request["path"], None if request["gone"] else body)
        self.report_edit(changed)
        return {"changed_files": changed}, b""

    def do_list(self, request: Request, body: bytes) -> Reply:
        """Return the entries below a directory."""
        return self.workspace.listing(request["path"], request["depth"], request["limit"]), b""

    def do_search(self, request: Request, body: bytes) -> Reply:
        """Return the lines that match a regular expression."""
        matches = self.workspace.search(
            request["pattern"], request["path"], request["glob"], request["limit"], request["ignore_case"]
        )
        return matches, b""

    def do_changes(self, request: Request, body: bytes) -> Reply:
        """Return what differs from the baseline."""
        return self.workspace.changes()

    def do_run(self, request: Request, body: bytes) -> Reply:
        """Run a shell command. `changed_files`: see `Workspace.news`."""
        command = request["command"]
        reply, output = self.launcher.run(lambda output_fd: self.launcher.command(command, output_fd), request)
        reply["changed_files"] = self.workspace.news()
        self.report_edit(reply["changed_files"])
        return reply, output

    def report_edit(self, changed: ChangedFiles) -> None:
        """Tell the debugging tools which files the agent changed."""
        for listener in self.on_edit:
            listener(changed)
