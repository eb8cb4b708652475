"""The debugging environment: a bug, a sandbox, tools, a verdict. Knows no model, no database and no Prefect."""
