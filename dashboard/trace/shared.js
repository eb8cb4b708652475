// Which step is selected. The address says so; the list, the timeline and the keyboard change it at once and tell
// Python, which writes the address. Until it does, what was chosen here counts.
const CHANGED = "stackrank-step-chosen"
const PATIENCE_MS = 20000
const AGAIN_MS = 2000
const instances = new WeakMap()

function addressStep() {
  const text = new URLSearchParams(location.search).get("step")
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}

class Selection {
  constructor(show) {
    this.show = show
    this.start = 0
    this.current = null
    this.waiting = null
    this.until = 0
    this.timer = 0
    this.sent = 0
    this.onChosen = event => this.take(event.detail, event.detail.from !== this)
    window.addEventListener(CHANGED, this.onChosen)
    this.poll = setInterval(() => this.follow(), 150)
  }

  update(start, send) {
    this.start = start
    this.send = send
    if (this.current === null || this.waiting === null) this.current = addressStep() ?? start
  }

  follow() {
    const step = addressStep() ?? this.start
    if (this.waiting !== null && step !== this.waiting && Date.now() < this.until) {
      // What is sent while the server is at work on something else may be lost.
      if (this.mine && Date.now() - this.sent > AGAIN_MS) {
        this.sent = Date.now()
        this.send(this.waiting)
      }
      return
    }
    this.waiting = null
    if (step !== this.current) {
      this.current = step
      this.show(true)
    }
  }

  take(detail, reveal) {
    this.current = this.waiting = detail.step
    this.mine = detail.from === this
    this.until = Date.now() + PATIENCE_MS
    this.show(reveal)
  }

  choose(step) {
    if (step === undefined || step === this.current) return
    window.dispatchEvent(new CustomEvent(CHANGED, { detail: { step, from: this } }))
    // A held key passes many steps; the server is asked for the first and for the one where it stops.
    clearTimeout(this.timer)
    const quiet = Date.now() - this.sent
    this.sent = Date.now()
    if (quiet > 300) this.send(step)
    else this.timer = setTimeout(() => this.send(step), 150)
  }

  close() {
    clearInterval(this.poll)
    clearTimeout(this.timer)
    window.removeEventListener(CHANGED, this.onChosen)
  }
}

// What agents wrote goes into the page by this function alone, as text.
function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

function decode(data) {
  return JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data))
}

function styleOf(root) {
  const style = getComputedStyle(root.host ?? root)
  const named = name => style.getPropertyValue(name).trim()
  return { named, palette: named("--st-chart-categorical-colors").split(",").map(color => color.trim()) }
}

function mount(component, View) {
  const { data, parentElement, setTriggerValue } = component
  let view = instances.get(parentElement)
  if (!view) {
    view = new View(parentElement)
    instances.set(parentElement, view)
  }
  view.selection.update(0, step => setTriggerValue("step", step))
  view.update(decode(data))
  return () => {
    view.close()
    instances.delete(parentElement)
  }
}
