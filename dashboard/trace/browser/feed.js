// Passes a part of a trace to the debugger. That is another script, so the part is stored in the window object.
const SEEN = new WeakSet()

export default ({ data }) => {
  if (SEEN.has(data)) return
  SEEN.add(data)
  const { episode, name, value } = JSON.parse(new TextDecoder().decode(data))
  const kept = (window.stackrankFed ??= { episode: null, parts: new Map() })
  if (kept.episode !== episode) {
    kept.episode = episode
    kept.parts.clear()
  }
  // The oldest parts are dropped first. If the reader needs one again, the server sends it again.
  kept.parts.delete(name)
  kept.parts.set(name, value)
  if (kept.parts.size > 300) kept.parts.delete(kept.parts.keys().next().value)
  window.dispatchEvent(new Event("stackrank-fed"))
}
