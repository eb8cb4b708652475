"""Who may look. Login is OpenID Connect through Streamlit; who is let in stands in `STACKRANK_ALLOWED_USERS`."""

from __future__ import annotations

import os
import re

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from dashboard.launch import SECRETS
from dashboard.show import escaped

ALLOWED = "STACKRANK_ALLOWED_USERS"


def configured() -> bool:
    """Whether the secrets have an `[auth]` section, and so everybody has to sign in."""
    if os.environ.get(SECRETS):
        return True  # the launcher has looked; should the file be gone since, nobody gets in
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def allowed(email: str, verified: object, rules: str) -> bool:
    """Whether the owner of this address may look.

    `rules` are addresses (`ada@example.org`), domains (`@example.org`) and `*` for everybody whom the provider knows,
    separated by commas or spaces; none lets nobody in. An address that the provider calls unverified is nobody's.
    """
    wanted = [rule.casefold() for rule in re.split(r"[\s,;]+", rules) if rule]
    if "*" in wanted:
        return True
    address = email.casefold()
    if address.count("@") != 1 or verified is False or verified == "false":
        return False
    return address in wanted or "@" + address.partition("@")[2] in wanted


def require() -> None:
    """Let pass who may look; the script ends here for everybody else."""
    if not configured():
        return
    if not st.user.is_logged_in:
        with st.container(border=True, horizontal_alignment="center"):
            st.title("stackrank", width="content")
            st.button("Sign in", icon=":material/login:", on_click=st.login, type="primary")
        st.stop()
    email = str(st.user.get("email") or "")
    if not allowed(email, st.user.get("email_verified"), os.environ.get(ALLOWED, "")):
        with st.container(border=True, horizontal_alignment="center"):
            st.title("Not on the list", width="content")
            who = escaped(email or "an account without an address")
            st.markdown(f"You are signed in as {who}, whom `{ALLOWED}` of this dashboard does not name.")
            st.button("Sign out", icon=":material/logout:", on_click=st.logout)
        st.stop()


def footer() -> None:
    """Who is signed in, and the way out."""
    if configured():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right"):
            st.caption(f"Signed in as {escaped(st.user.get('email') or st.user.get('sub'))}", width="content")
            st.button("Sign out", icon=":material/logout:", on_click=st.logout, type="tertiary", key="sign_out")
