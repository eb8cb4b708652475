"""The environment for training programs. Independent of the database and Prefect."""
