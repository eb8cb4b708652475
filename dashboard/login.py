"""Access control. Login is OpenID Connect through Streamlit; `STACKRANK_ALLOWED_USERS` says who is let in."""

from __future__ import annotations

import re

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from stackrank.dashboard.parts.show import escaped
from stackrank.host.listening import is_loopback
from stackrank.settings import settings


def configured() -> bool:
    """Whether the secrets have an `[auth]` section, so that everybody has to sign in."""
    if settings().secrets:
        return True  # the launcher has checked the file; if it is gone since, nobody gets in
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def allowed(email: str, verified: object, rules: str) -> bool:
    """Whether the owner of this address may see the dashboard.

    `rules` are addresses (`ada@example.org`), domains (`@example.org`) and `*` for everybody whom the provider knows,
    separated by commas or spaces; empty rules let nobody in. An address that the provider does not call verified may
    be anybody's, and is refused too.
    """
    rules_listed = [rule.casefold() for rule in re.split(r"[\s,;]+", rules) if rule]
    address = email.casefold()
    if address.count("@") != 1 or verified not in (True, "true"):
        return False
    return "*" in rules_listed or address in rules_listed or "@" + address.partition("@")[2] in rules_listed


def address_is_verified(claim: object) -> object:
    """Return the claim `email_verified`, or `STACKRANK_TRUST_EMAILS` where a provider sends none."""
    return settings().trust_emails if claim is None else claim


def may_operate() -> bool:
    """Whether the reader may act on runs: see `STACKRANK_OPERATORS`."""
    rules = settings().operators
    if configured():
        verified = address_is_verified(st.user.get("email_verified"))
        return bool(st.user.is_logged_in) and allowed(str(st.user.get("email") or ""), verified, rules)
    # Without a login nobody has a name: everybody may, or nobody.
    return is_loopback(str(st.get_option("server.address") or "")) or "*" in rules


def require() -> None:
    """Let permitted readers pass; the script ends here for everybody else."""
    if not configured():
        return
    if not st.user.is_logged_in:
        with st.container(border=True, horizontal_alignment="center"):
            st.title("stackrank", width="content")
            st.button("Sign in", icon=":material/login:", on_click=st.login, type="primary")
        st.stop()
    email = str(st.user.get("email") or "")
    verified = address_is_verified(st.user.get("email_verified"))
    if not allowed(email, verified, settings().allowed_users):
        with st.container(border=True, horizontal_alignment="center"):
            st.title("No access", width="content")
            account = escaped(email or "an account without an address")
            message = f"You are signed in as {account}. `STACKRANK_ALLOWED_USERS` does not include this account."
            if verified not in (True, "true"):
                message = (
                    f"You are signed in as {account}, but the provider does not say that this address is verified "
                    "(the claim `email_verified`)."
                )
            st.markdown(message)
            st.button("Sign out", icon=":material/logout:", on_click=st.logout)
        st.stop()


def footer() -> None:
    """Show who is signed in, with a button to sign out."""
    if configured():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right"):
            st.caption(f"Signed in as {escaped(st.user.get('email') or st.user.get('sub'))}", width="content")
            st.button("Sign out", icon=":material/logout:", on_click=st.logout, type="tertiary", key="sign_out")
