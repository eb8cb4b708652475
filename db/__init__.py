"""The database: tables, migrations, what is written and what is asked. Imports nothing else of the project."""
