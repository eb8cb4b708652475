"""Deployment files, checked with their own tools: Kubernetes schemas, Docker Compose, the proxy.

Building and starting the images is `deploy/images/build.sh` and takes minutes: docs/guide/operate.md says what was run.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from stackrank.db.connection.engine import connect
from stackrank.flows.services.metrics import DatabaseCollector
from tests.postgres import PASSWORD, cluster
from tests.support.databases import Databases

DEPLOY = Path(__file__).parents[1] / "deploy"
COMPOSE = DEPLOY / "compose"


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((DEPLOY / "kubernetes").rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            yield path.name, document


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [document for _, document in manifests() if document["kind"] in kinds]


def pod_of(workload: dict[str, Any]) -> dict[str, Any]:
    return dict(workload["spec"]["template"]["spec"])


def test_manifests_match_the_kubernetes_schemas() -> None:
    import kubernetes_validate

    checked = 0
    for _, document in manifests():
        if document["kind"] != "Kustomization":  # not a resource of a cluster
            for version in ("1.30", kubernetes_validate.latest_version()):
                kubernetes_validate.validate(document, version, strict=True)
            checked += 1
    assert checked >= 15


def test_a_manifest_with_a_mistake_is_refused() -> None:
    import kubernetes_validate

    workload = of_kind("Deployment")[0]
    workload["spec"]["replicas"] = "two"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(workload, "1.30", strict=True)


def test_manifest_references_exist() -> None:
    files = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")}
    base, overlay = sorted(of_kind("Kustomization"), key=lambda document: ".." in document["resources"])
    assert set(base["resources"]) == files - {"kustomization.yaml", "secrets.example.yaml"}
    files = {path.name for path in (DEPLOY / "kubernetes" / "autoscaling").glob("*.yaml")}
    assert set(overlay["resources"]) == files - {"kustomization.yaml"} | {".."}
    (secret,) = of_kind("Secret")
    services = {service["metadata"]["name"]: service for service in of_kind("Service")}
    labels = [workload["spec"]["selector"]["matchLabels"] for workload in of_kind("Deployment", "StatefulSet")]
    for service in services.values():
        assert service["spec"]["selector"] in labels
    for ingress in of_kind("Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["port"]["name"] in {p["name"] for p in services[backend["name"]]["spec"]["ports"]}
    for workload in of_kind("Deployment", "StatefulSet"):
        pod = pod_of(workload)
        volumes = {volume["name"] for volume in pod.get("volumes", [])}
        volumes |= {claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes
            for variable in container.get("env", []):
                if variable["name"].endswith("_FILE"):
                    assert Path(variable["value"]).name in secret["stringData"]
            assert container["resources"]["limits"]["memory"]


def test_busy_workers_are_not_disrupted() -> None:
    """No probe that asks Prefect ends them, no update changes the schema under them, and they go one at a time."""
    (worker,) = [document for document in of_kind("Deployment") if document["metadata"]["name"] == "worker"]
    assert not any("livenessProbe" in container for container in pod_of(worker)["containers"])
    for workload in of_kind("Deployment", "StatefulSet"):
        names = {
            variable["name"] for container in pod_of(workload)["containers"] for variable in container.get("env", [])
        }
        assert "STACKRANK_AUTO_MIGRATE" not in names
    (budget,) = of_kind("PodDisruptionBudget")
    assert budget["spec"]["maxUnavailable"] == 1 and budget["spec"]["selector"] == worker["spec"]["selector"]
    (scaling,) = of_kind("HorizontalPodAutoscaler")
    assert scaling["spec"]["scaleTargetRef"]["name"] == "worker"
    assert worker["spec"]["replicas"] >= scaling["spec"]["minReplicas"]


def test_workers_scale_on_an_existing_metric(databases: Databases, tmp_path: Path) -> None:
    (scaling,) = of_kind("HorizontalPodAutoscaler")
    (metric,) = scaling["spec"]["metrics"]
    served = {metric.name for metric in DatabaseCollector(connect(databases.empty(tmp_path / "x.db"))).collect()}
    assert metric["external"]["metric"]["name"] in served


def test_only_the_sandbox_engine_is_privileged() -> None:
    for workload in of_kind("Deployment", "StatefulSet"):
        pod = pod_of(workload)
        for container in pod["containers"]:
            security = {**pod.get("securityContext", {}), **container["securityContext"]}
            if security.get("privileged"):
                assert (workload["metadata"]["name"], container["name"]) == ("worker", "engine")
            else:
                assert security["runAsNonRoot"] and not security["allowPrivilegeEscalation"]
                assert security["capabilities"] == {"drop": ["ALL"]}
        assert pod["automountServiceAccountToken"] is False


def test_only_the_proxy_has_the_sandbox_engines_socket() -> None:
    (worker,) = [document for document in of_kind("Deployment") if document["metadata"]["name"] == "worker"]
    pod = pod_of(worker)
    having = {
        container["name"]
        for container in pod["containers"]
        if "engine" in {mount["name"] for mount in container["volumeMounts"]}
    }
    assert having == {"engine", "engine-proxy"} and "hostPath" not in str(pod["volumes"])
    services = compose_file()["services"]
    assert [name for name, service in services.items() if ":/var/run/docker.sock" in str(service.get("volumes"))] == [
        "engine"
    ]
    assert services["engine"]["network_mode"] == "none" and "secrets" not in services["engine"]
    for name in ("worker", "prefect", "dashboard", "engine"):
        service = services[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert ("group_add" in service) == (name == "engine")
        assert service["security_opt"] == ["no-new-privileges:true"]


def compose_file() -> dict[str, Any]:
    return dict(yaml.safe_load((COMPOSE / "compose.yaml").read_text(encoding="utf-8")))


def test_compose_file_is_valid(tmp_path: Path) -> None:
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        call = ["docker", "compose"]
    elif shutil.which("docker-compose"):
        call = ["docker-compose"]
    else:
        pytest.skip("neither the compose plugin nor docker-compose is installed")
    folder = tmp_path / "compose"
    shutil.copytree(COMPOSE, folder, ignore=shutil.ignore_patterns("secrets"))
    subprocess.run([folder / "secrets.sh"], check=True, capture_output=True)
    if call == ["docker-compose"]:  # The first version knows no name; its schema is otherwise the same.
        file = folder / "compose.yaml"
        file.write_text(file.read_text().replace("name: stackrank\n", ""))
    completed = subprocess.run(
        [*call, "-f", "compose.yaml", "config"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    assert set(yaml.safe_load(completed.stdout)["services"]) == set(compose_file()["services"])


def test_compose_publishes_one_port_and_keeps_passwords_in_secrets() -> None:
    document = compose_file()
    for name, service in document["services"].items():
        assert ("ports" in service) == (name == "proxy"), "one port"
        assert set(service.get("secrets", [])) <= set(document["secrets"])
        for variable, value in service.get("environment", {}).items():
            assert "PASSWORD" not in variable or variable.endswith("_FILE")
            if str(value).startswith("/run/secrets/"):
                assert Path(value).name in service["secrets"], f"{name}: {variable}"
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            if source.startswith("./"):
                assert (COMPOSE / source).exists(), source
            elif not source.startswith(("/", "${DOCKER_SOCKET")):
                assert source in document["volumes"]
        assert name == "proxy" or "healthcheck" in service
    assert document["services"]["proxy"]["ports"][0].startswith("${STACKRANK_BIND:-127.0.0.1}")


def test_secrets_are_created_once(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    subprocess.run([COMPOSE / "secrets.sh", folder], check=True, capture_output=True)
    assert {path.name for path in folder.iterdir()} == set(compose_file()["secrets"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    secrets = {path.name: path.read_text() for path in folder.iterdir()}
    assert len(secrets["postgres_password"]) == 48
    for service in ("stackrank", "prefect"):
        assert f"//{service}:{secrets[f'{service}_password']}@" in secrets[f"{service}_database_url"]
    assert len({secrets[f"{name}_password"] for name in ("postgres", "stackrank", "prefect")}) == 3
    subprocess.run([COMPOSE / "secrets.sh", folder], check=True, capture_output=True)
    assert {path.name: path.read_text() for path in folder.iterdir()} == secrets


def test_each_service_has_only_its_own_secrets() -> None:
    expected = {
        "postgres": {"postgres_password", "stackrank_password", "prefect_password"},
        "prefect": {"prefect_database_url", "prefect_auth"},
        "worker": {"stackrank_database_url", "prefect_auth"},
        "engine": set(),
        "dashboard": {"stackrank_database_url"},
        "proxy": set(),
    }
    assert {name: set(service.get("secrets", [])) for name, service in compose_file()["services"].items()} == expected
    expected["worker"].add("openai_api_key")
    expected["dashboard"].add("dashboard_secrets.toml")
    for workload in of_kind("Deployment", "StatefulSet"):
        mounted = [volume["secret"] for volume in pod_of(workload)["volumes"] if "secret" in volume]
        assert {item["key"] for secret in mounted for item in secret["items"]} == expected[workload["metadata"]["name"]]


def test_networks_are_isolated_by_default() -> None:
    policies = {policy["metadata"]["name"]: policy["spec"] for policy in of_kind("NetworkPolicy")}
    assert policies["default-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert "egress" not in policies["postgres"] and "egress" not in policies["prefect"]
    document = compose_file()
    internal = {name for name, network in document["networks"].items() if (network or {}).get("internal")}
    closed = {name for name, service in document["services"].items() if set(service.get("networks", [])) <= internal}
    assert closed == {"postgres", "prefect", "engine"}


def test_services_have_separate_database_users(tmp_path: Path) -> None:
    import psycopg

    script = COMPOSE / "databases.sh"
    (mapped,) = of_kind("ConfigMap")
    assert mapped["data"]["databases.sh"] == script.read_text()
    if shutil.which("psql") is None:
        pytest.skip("psql is not installed")
    for name in ("stackrank", "prefect"):
        (tmp_path / f"{name}_password").write_text(f"it's {name}")
    with cluster(user="postgres") as running:
        environment = {**os.environ, "SECRETS": str(tmp_path), "PGPASSWORD": PASSWORD}
        environment |= {"PGHOST": str(running.folder), "PGPORT": "5432"}
        subprocess.run([script], check=True, env=environment)
        for name, database in (("stackrank", "prefect"), ("prefect", "stackrank")):
            credentials = {"host": str(running.folder), "user": name, "password": f"it's {name}"}
            with psycopg.connect(**credentials, dbname=name) as connection:
                assert connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [name]).fetchone() == (
                    False,
                )
                connection.execute("CREATE TABLE mine (id int)")
            with pytest.raises(psycopg.OperationalError, match="permission denied"):
                psycopg.connect(**credentials, dbname=database)


def test_the_entrypoint_reads_secrets_from_files(tmp_path: Path) -> None:
    entrypoint = DEPLOY / "images" / "entrypoint.sh"
    secret = tmp_path / "secret"
    secret.write_text("postgresql://u:p%40 w$x'\"@h/d\n")
    environment = {"PATH": os.environ["PATH"], "STACKRANK_DATABASE_URL_FILE": str(secret), "OTHER_FILE": "kept"}
    completed = subprocess.run([entrypoint, "env"], env=environment, capture_output=True, text=True, check=True)
    variables = dict(line.partition("=")[::2] for line in completed.stdout.splitlines())
    assert variables["STACKRANK_DATABASE_URL"] == "postgresql://u:p%40 w$x'\"@h/d"
    assert "STACKRANK_DATABASE_URL_FILE" not in variables and variables["OTHER_FILE"] == "kept"
    environment["OPENAI_API_KEY_FILE"] = str(tmp_path / "missing")
    failed = subprocess.run([entrypoint, "env"], env=environment, capture_output=True, text=True, check=False)
    assert failed.returncode == 2 and "OPENAI_API_KEY_FILE" in failed.stderr


def test_proxy_configuration_is_valid() -> None:
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed")
    command = [caddy, "validate", "--adapter", "caddyfile", "--config", COMPOSE / "Caddyfile"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
