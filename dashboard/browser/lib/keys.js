// Keys of the whole page. `work(event)` returns whether it used the key; the result ends the listening. Keys that a
// field, another part of the page or the browser uses are left to it.
export function listen(work) {
  const heard = event => {
    if (hasModifier(event) || event.defaultPrevented || isField(event.composedPath()[0])) return
    if (work(event)) event.preventDefault()
  }
  document.addEventListener("keydown", heard)
  return () => document.removeEventListener("keydown", heard)
}

export function hasModifier(event) {
  return event.ctrlKey || event.metaKey || event.altKey
}

function isField(target) {
  return target instanceof HTMLElement && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]") !== null
}
