"""The dashboard: Streamlit pages over the database. Imports `db` and nothing else of the project."""
