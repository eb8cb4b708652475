"""Alert rules and the dashboard in deploy/monitoring: they ask for metrics that exist, with labels that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.core import Metric

from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.flows.services.metrics import DatabaseCollector
from tests.fixtures.playing import make_run

FOLDER = Path(__file__).parents[3] / "deploy" / "monitoring"
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


@pytest.fixture
def served(database: str) -> dict[str, Metric]:
    """Every metric by the names that its samples have; one endpoint is out."""
    store = Store(connect())
    run = make_run(limit=1, entrants=[{"agent": "random"}], sandbox="bubblewrap")
    store.start_run(run)
    store.open_outage(run, "http://127.0.0.1:9/v1", [1], "refused")
    families = list(DatabaseCollector(store.engine).collect())
    return {family.name + suffix: family for family in families for suffix in SUFFIXES[family.type]}


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    return list(group["rules"])


def panels() -> list[dict[str, Any]]:
    return list(json.loads((FOLDER / "grafana.json").read_text())["panels"])


def expressions() -> list[str]:
    return [rule["expr"] for rule in rules()] + [target["expr"] for panel in panels() for target in panel["targets"]]


def test_what_they_ask_for_exists(served: dict[str, Metric]) -> None:
    metrics = {name for expression in expressions() for name in re.findall(r"stackrank_\w+", expression)}
    assert metrics <= served.keys(), sorted(metrics - served.keys())
    assert {"stackrank_runs_stalled", "stackrank_queue_age_seconds", "stackrank_endpoint_down"} <= metrics


def test_labels_exist(served: dict[str, Metric]) -> None:
    labels = {label for family in served.values() for sample in family.samples for label in sample.labels}
    grouped = {label for expression in expressions() for label in re.findall(r"by \((\w+)\)", expression)}
    assert grouped - {"le"} <= labels | {"verdict"}, grouped
    rules_text = "".join(json.dumps(rule) for rule in rules())
    assert set(re.findall(r"\$labels\.(\w+)", rules_text)) <= labels


def test_rules_and_panels_are_whole() -> None:
    for rule in rules():
        assert (
            {"alert", "expr", "labels", "annotations"}
            <= rule.keys()
            <= {*["alert", "expr", "for", "labels", "annotations"]}
        )
        assert rule["annotations"].keys() == {"summary", "remedy"} and rule["labels"]["severity"]
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m"))
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    ids, places = [], set()
    for panel in panels():
        assert panel["title"] and panel["type"] and panel["targets"]
        ids.append(panel["id"])
        places.add((panel["gridPos"]["x"], panel["gridPos"]["y"]))
    assert len(set(ids)) == len(ids) == len(places)
    for expression in expressions():
        assert expression.count("(") == expression.count(")") and expression.count("[") == expression.count("]")


def test_what_stands_still_is_measured(served: dict[str, Metric]) -> None:
    (down,) = served["stackrank_endpoint_down"].samples
    assert (down.labels, down.value) == ({"endpoint": "http://127.0.0.1:9/v1"}, 1)
    (stalled,) = served["stackrank_runs_stalled"].samples
    (age,) = served["stackrank_queue_age_seconds"].samples
    assert stalled.value == 0 and age.value > 0
