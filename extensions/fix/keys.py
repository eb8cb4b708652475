"""Keys that press buttons. Streamlit's own shortcuts exclude R and C, which it uses to run a page again."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

_JS = """
let keys = {}, latest

// Before Streamlit hears of it, and never of what is typed into a field or while a dialogue is open.
function heard(event) {
  const target = event.composedPath()[0]
  const typing = target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return
  if (document.querySelector("[role=dialog]")) return
  event.preventDefault()
  event.stopImmediatePropagation()
  if (!event.repeat) document.querySelector(`.st-key-${keys[event.key]} button:not(:disabled)`)?.click()
}

export default component => {
  keys = component.data
  window.addEventListener("keydown", heard, true)
  component.parentElement.querySelector("span").dataset.keys = Object.keys(keys).join("")
  // Streamlit may clean up an abandoned script run only after the next one has started.
  const run = (latest = {})
  return () => {
    if (run !== latest) return
    keys = {}
    window.removeEventListener("keydown", heard, true)
  }
}
"""
_COMPONENT = st.components.v2.component("stackrank_keys", html="<span hidden></span>", js=_JS)


def keys(buttons: Mapping[str, str]) -> None:
    """Let keys press buttons of this page. `buttons`: letter -> the button's `key`."""
    _COMPONENT(key="keys", data=dict(buttons))
