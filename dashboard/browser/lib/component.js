// The life of a component. `create(root)` makes an object with `update(data, send)` and `close()`; `send(name, value)`
// tells Python, which draws the fragment around the component again.
export function mount(create) {
  const mounted = new WeakMap()
  return ({ data, parentElement, setTriggerValue }) => {
    let part = mounted.get(parentElement)
    if (!part) mounted.set(parentElement, (part = create(parentElement)))
    part.update(decode(data), setTriggerValue)
    // Streamlit may clean up an abandoned script run only after the next one has started.
    const run = (part.run = {})
    return () => {
      if (run !== part.run) return
      part.close()
      mounted.delete(parentElement)
    }
  }
}

export function decode(data) {
  return JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data))
}

// The element that scrolls a page.
export function pageOf(root) {
  return root.host.closest('[data-testid="stMain"]')
}
