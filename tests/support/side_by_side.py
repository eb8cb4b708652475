"""The distribution of test files over the processes of a session.

Each file is whole in one process. Files of a group run in the same process, because they share what must not be used
by two at a time, or what only that process has: a browser with its dashboard, the machine's network. Groups and long
files come first, in this order: what takes long must not begin when the rest is done.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

GROUPS = (
    ("flows/playing/test_lying_guest.py",),
    ("guide/test_pages.py",),
    (
        "dashboard/browser/test_browser.py",
        "dashboard/browser/test_login.py",
        "extensions/fix/test_page.py",
        "dashboard/browser/test_questions.py",
        "dashboard/browser/test_served.py",
    ),
    (
        "dashboard/browser/test_trace_browser.py",
        "dashboard/browser/test_trace_of_many_steps.py",
        "dashboard/browser/test_access.py",
    ),
    ("flows/engine/test_schedule.py", "flows/engine/test_pool.py", "flows/engine/test_leases.py"),
    ("test_extensions.py",),
    ("extensions/mcp/test_lying_server.py",),
    ("env/test_validate.py",),
    ("db/nights/test_red_nights.py",),
    ("flows/engine/test_server_killed.py",),
    ("db/stats/test_bench_statistics.py",),
    ("flows/engine/test_clusters.py",),
    ("flows/engine/test_cancel.py",),
    ("flows/engine/test_run.py",),
    ("extensions/mcp/test_outside.py",),
    ("extensions/fix/test_fix.py",),
    ("env/scoring/bounty/test_bounty.py",),
    ("env/sandbox/test_isolation.py",),
    ("flows/engine/test_kill_matrix.py",),
    ("env/sandbox/test_environments.py",),
    ("flows/engine/test_resume.py",),
    ("env/tools/test_pdb_hard.py",),
    ("env/scoring/test_plugins.py",),
    ("extensions/languages/test_debug.py",),
    ("flows/engine/test_fleet.py",),
    ("flows/operating/test_killed.py",),
    ("flows/playing/test_two_players.py",),
    ("test_wheel.py",),
    ("test_session.py",),
)
RANKS = {f"tests/{file}": rank for rank, group in enumerate(GROUPS) for file in group}
"""File -> the place of its group."""


def file_of(test: str) -> str:
    """The file of a test's id."""
    return test.partition("::")[0]


class Scheduling(LoadFileScheduling):
    """`--dist loadfile`, with groups of files."""

    def _split_scope(self, nodeid: str) -> str:
        file = file_of(nodeid)
        return str(RANKS.get(file, file))
