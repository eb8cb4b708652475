"""Which files of tests one process runs, one after the other, when several processes share a session.

Each file is whole in one process. Files of a group share what takes long to start: a Prefect server, a browser with the
dashboard, PostgreSQL. Groups come first, and in this order: what takes long must not begin when the rest is done.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

GROUPS = (
    (
        "flows/test_schedule.py", "flows/test_pool.py", "flows/test_endpoint_limits.py", "flows/test_reporting.py",
        "flows/test_server_real.py", "flows/test_shards.py", "flows/test_leases.py",
    ),
    (
        "flows/test_clusters.py", "flows/test_server_killed.py", "flows/test_fix.py", "flows/test_fix_imports.py",
        "flows/test_debuggers_example.py",
    ),
    (
        "flows/test_cancel.py", "flows/test_outside.py", "flows/test_run.py",
        "flows/test_services.py", "flows/test_supervisor.py",
    ),
    ("dashboard/test_browser.py", "dashboard/test_login.py", "dashboard/test_proposals.py"),
    (
        "dashboard/test_trace_browser.py", "dashboard/test_trace_of_many_steps.py", "dashboard/test_access.py",
        "dashboard/test_questions.py", "dashboard/test_served.py",
    ),
    (
        "db/test_storage.py", "db/test_store.py", "db/test_queries.py", "db/test_engine.py", "db/test_claims.py",
        "db/test_team.py", "db/test_upgrade.py", "db/test_scope.py", "db/test_abilities.py", "db/test_errors.py",
        "db/test_identity.py", "db/test_insight.py", "db/test_prune.py",
    ),
    (
        "db/test_regressions.py", "db/test_rows.py", "db/test_stopping.py", "db/test_effort.py",
        "db/test_labels.py", "db/test_nights.py", "db/test_pgbouncer.py", "db/test_proposals.py", "db/test_run_pair.py",
        "db/test_search.py", "db/test_stats_clusters.py", "db/test_tallies.py", "db/test_tool_sets.py",
        "db/test_totals.py",
    ),
    ("env/test_isolation.py",), ("flows/test_kill_matrix.py",), ("env/bounty/test_bounty.py",),
    ("env/test_pdb_hard.py",), ("env/test_environments.py",), ("flows/test_resume.py",), ("env/test_plugins.py",),
    ("env/test_infrastructure.py",), ("env/test_swebench.py",), ("flows/test_verbatim.py",),
    ("flows/test_replay.py",), ("flows/test_paper.py",), ("agents/test_repair.py",), ("flows/test_rescore.py",),
    ("flows/test_validate.py",), ("env/test_inject.py",), ("env/test_repo.py",), ("test_session.py",),
    ("test_wheel.py",),
)  # fmt: skip
SHARED = {
    "prefect_server": ("tests/", {0, 1, 2}),
    "served": ("tests/dashboard/", {3, 4}),
    "postgres": ("tests/db/", {5, 6}),
    "postgresql": ("tests/db/", {5, 6}),
}
"""Fixture, or parameter of one, that stands for a server of the session -> where it does, and the groups of its files.

Each process that runs a file of another group would start such a server of its own, and keep it to the end.
"""
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
