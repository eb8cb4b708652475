"""Sandboxes that root starts at the same time."""

from __future__ import annotations

import threading

import pytest

from stackrank.env.sandbox.bubblewrap.unprivileged import is_host_root, user_namespace


@pytest.mark.skipif(not is_host_root(), reason="only root makes user namespaces for its sandboxes")
def test_user_namespaces_that_are_made_side_by_side_do_not_wait_for_each_other() -> None:
    namespaces: list[int] = []

    def work() -> None:
        for _ in range(30):
            with user_namespace() as namespace:
                namespaces.append(namespace)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert len(namespaces) == 180
