"""The database: tables, migrations, writes and queries. Imports only the ground floor of the project."""
