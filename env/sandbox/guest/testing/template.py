"""A Python that is ready for tests, but has seen no workspace; it forks a warm Python into each sandbox."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from typing import Dict, List

from ..core.factory import PYTHON, receive, reporting_failure
from ..core.namespaces import give_up, join, keep_only, own_copy
from ..core.processes import be_expendable, child_setup
from ..core.seccomp import confine, no_tracing
from . import warm


def main(argv: List[str], programs: Dict[str, str]) -> List[str]:
    """Fork a warm Python into each sandbox. Returns only in a program that one of them forks, with its arguments."""
    requests = socket.socket(fileno=int(argv[0]))
    requests.set_inheritable(False)
    gc.disable()
    zip_fd = int(sys.path[0].rpartition("/")[2])
    foreign = warm.preload_all(programs.values())
    gc.collect()
    gc.freeze()
    requests.send(b"ready")
    while True:
        request, fds = receive(requests)
        if not request:
            os._exit(0)
        outside_pid = os.fork()
        if outside_pid:
            for fd in fds:
                os.close(fd)
            os.waitpid(outside_pid, 0)
            continue
        sock, tells = socket.socket(fileno=fds[0]), socket.socket(fileno=fds[1])
        with reporting_failure(tells):
            guest = os.read(fds[2], 32)
            if not guest:
                os._exit(0)  # the guest has said why
            join(int(guest))
            if os.fork() or os.fork():  # so that the guest becomes its parent
                os._exit(0)
            if not sock.recv(16):  # which comes when the file systems are there
                os._exit(0)
            os.chdir(request["room"]["root"])
            give_up()
            os.setsid()
            limits = dict(request["limits"])
            be_expendable()
            confined = limits.pop("confine", False) and confine()
            child_setup(**limits, last=no_tracing() if confined else lambda: None)()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in range(3):
                fd = os.open(os.devnull, os.O_RDWR)
                os.dup2(fd, number)
                os.close(fd)
            own_copy(zip_fd)
            while os.getppid() != 1:
                time.sleep(0.0005)
            tells.send(PYTHON)
        for sock_to_detach in (requests, tells):
            sock_to_detach.detach()  # so that nobody closes what gets the same number later
        keep_only({zip_fd, sock.fileno()})
        sock.send(b"%d" % os.getpid())
        return warm.serve(sock, programs, foreign)
