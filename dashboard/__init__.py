"""The dashboard: Streamlit pages over the database. Imports only `db` and the ground floor."""
