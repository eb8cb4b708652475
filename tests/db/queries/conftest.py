"""Fixtures that tests of queries share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from stackrank.db.connection.engine import connect
from tests.dashboard.seed import Seeded
from tests.support.databases import Databases


@pytest.fixture(scope="module")
def seeded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Seeded]]:
    url, contents = databases.seeded(tmp_path_factory.mktemp("seeded") / "x.db")
    opened = connect(url)
    yield opened, contents
    opened.dispose()
