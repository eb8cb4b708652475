pytest_plugins = [
    "tests.support.session",
    "tests.support.databases",
    *(f"tests.fixtures.{room}" for room in ("env", "agents", "db", "flows", "dashboard")),
]
