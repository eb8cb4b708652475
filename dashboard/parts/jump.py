"""Ctrl+K or Cmd+K opens a field that leads to every page, run, task, entrant and episode with a few letters."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

_HTML = """
<button type="button" title="Find a page, run, task, entrant or episode (Ctrl+K)">Find <kbd>Ctrl K</kbd></button>
<dialog aria-label="Go to">
  <input type="text" role="combobox" aria-label="Go to" aria-controls="places" aria-expanded="true" autocomplete="off"
    placeholder="A page, episode 12, run 3, task 4, or a text">
  <div id="places" role="listbox" aria-label="Places"></div>
</dialog>
"""
_CSS = """
dialog {
  width: min(36rem, 92vw); margin-top: 12vh; padding: 10px; border: 1px solid var(--st-border-color);
  border-radius: 8px; background: var(--st-background-color); color: var(--st-text-color);
}
button {
  font: inherit; font-size: 0.85rem; color: inherit; cursor: pointer; white-space: nowrap; padding: 3px 8px;
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color); border-radius: 6px;
}
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
kbd { font-family: var(--st-code-font); font-size: 0.75rem; }
dialog::backdrop { background: rgb(0 0 0 / 40%); }
input {
  box-sizing: border-box; width: 100%; padding: 8px; font: inherit; color: inherit;
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color); border-radius: 6px;
}
a { display: block; padding: 6px 8px; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
a[aria-selected="true"] {
  background: var(--st-secondary-background-color); outline: 2px solid var(--st-primary-color);
}
"""
_JS = """
let dialog, field, list, pages = [], chosen = 0, latest

function places(text) {
  const asked = text.trim()
  const [, kind, id, step] = /^(run|task|episode)?\\s*#?(\\d{1,9})(?:\\s+(?:step\\s+)?(\\d{1,9}))?$/i.exec(asked) ?? []
  const found = pages.filter(([title]) => title.toLowerCase().includes(asked.toLowerCase()))
  for (const each of id ? (kind ? [kind.toLowerCase()] : ["task", "run", "episode"]) : []) {
    const at = step !== undefined && each === "episode" ? step : undefined
    found.unshift([`${each} ${id}${at ? ` step ${at}` : ""}`, `${each}?id=${id}${at ? `&step=${at}` : ""}`])
  }
  if (!asked || id) return found
  const quoted = `"${asked.replaceAll('"', "")}"`
  const isQuery = /^-|[:<>]/.test(asked)
  const given = isQuery ? [["Episodes:", "episodes?ep_query=", asked]] : [
    ["Tasks that contain", "tasks?tk_text=", asked],
    ["Runs whose name contains", "runs?runs_name=", asked],
    ["Episodes of the entrant", "episodes?ep_query=", `entrant:${quoted}`],
    ["Episodes whose traces contain", "episodes?ep_query=", `text:${quoted}`],
  ]
  const ways = given.map(([label, address, value]) => [`${label} ${asked}`, address + encodeURIComponent(value)])
  return [...found, ...ways]
}

function choose(at) {
  const links = [...list.children]
  chosen = links.length ? (at + links.length) % links.length : 0
  links.forEach((link, place) => link.setAttribute("aria-selected", String(place === chosen)))
  field.setAttribute("aria-activedescendant", links[chosen]?.id ?? "")
}

function draw() {
  list.replaceChildren(...places(field.value).map(([label, address], place) => {
    const link = document.createElement("a")
    Object.assign(link, { id: `place${place}`, href: address, textContent: label, tabIndex: -1, role: "option" })
    return link
  }))
  choose(0)
}

function typed(event) {
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (way) choose(chosen + way)
  else if (event.key === "Enter") list.children[chosen]?.click()
  else return
  event.preventDefault()
}

function heard(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return
  event.preventDefault()
  event.stopImmediatePropagation()
  open()
}

function open() {
  if (dialog.open) return dialog.close()
  field.value = ""
  draw()
  dialog.showModal()
  field.focus()
}

export default component => {
  pages = component.data
  const root = component.parentElement
  dialog = root.querySelector("dialog")
  field = root.querySelector("input")
  list = root.querySelector("[role=listbox]")
  field.oninput = draw
  field.onkeydown = typed
  window.addEventListener("keydown", heard, true)
  root.querySelector("button").onclick = open
  dialog.dataset.keys = "k"
  // Streamlit may clean up an abandoned script run only after the next one has started.
  const run = (latest = {})
  return () => run === latest && window.removeEventListener("keydown", heard, true)
}
"""
_COMPONENT = st.components.v2.component("stackrank_jump", html=_HTML, css=_CSS, js=_JS)


def offer(pages: Sequence[tuple[str, str]]) -> None:
    """Let Ctrl+K open the field on this page. `pages`: title and address of each page that the field lists."""
    _COMPONENT(key="jump", data=[list(page) for page in pages])
