// What Python has sent for a component beyond its own data: parts by name, of a source such as an episode. `feed.js`
// stores them, and the event tells who shows them.
import { decode } from "./component.js"

const FED = "stackrank-fed"
const MOST_PARTS = 300
const MOST_SOURCES = 4
const seen = new WeakSet()
const sources = new Map()

export function part(source, name) {
  return sources.get(source)?.get(name)
}

export function store(data) {
  if (seen.has(data)) return
  seen.add(data)
  const { source, name, value } = decode(data)
  const parts = sources.get(source) ?? new Map()
  // What was used last is dropped last. If the reader needs a dropped part again, the server sends it again.
  move(sources, source, parts, MOST_SOURCES)
  move(parts, name, value, MOST_PARTS)
  window.dispatchEvent(new Event(FED))
}

function move(map, name, value, most) {
  map.delete(name)
  map.set(name, value)
  if (map.size > most) map.delete(map.keys().next().value)
}

// Calls `show` in the frame after new parts have come; the result ends that.
export function whenFed(show) {
  let frame = 0
  const heard = () => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(show)
  }
  window.addEventListener(FED, heard)
  return () => {
    cancelAnimationFrame(frame)
    window.removeEventListener(FED, heard)
  }
}
