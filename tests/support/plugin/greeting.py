"""The script of the plug-in's page."""

import streamlit as st

st.title("Greeting")
st.markdown("A plug-in drew this.")
