"""The debugging environment: a bug, a sandbox, tools, a verdict. Independent of models, the database and Prefect."""
