// Which step is selected. The address says so; the list, the timeline and the keyboard change it and tell Python. Until
// the page shows the step, what was chosen here counts. Who reads step by step stays in one entry of the browser's
// history; a jump adds one.
const CHANGED = "stackrank-step-chosen"
const PATIENCE_MS = 20000
const AGAIN_MS = 2000
const instances = new WeakMap()

function addressStep() {
  const text = new URLSearchParams(location.search).get("step")
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}

// The step that Python has drawn; its heading has it in its class.
function shownStep() {
  const found = document.querySelector('[class*="st-key-shown_step_"]')?.className.match(/st-key-shown_step_(\d+)/)
  return found ? Number(found[1]) : null
}

function intoAddress(step, jump) {
  const url = new URL(location.href)
  url.searchParams.set("step", step)
  history[jump ? "pushState" : "replaceState"](history.state, "", url)
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
    this.onBack = () => (this.waiting = null)
    window.addEventListener(CHANGED, this.onChosen)
    window.addEventListener("popstate", this.onBack)
    this.poll = setInterval(() => this.follow(), 150)
  }

  update(start, send) {
    this.start = start
    this.send = send
    if (this.current === null || this.waiting === null) this.current = addressStep() ?? start
  }

  follow() {
    const step = addressStep() ?? this.start
    if (this.waiting !== null && shownStep() !== this.waiting && Date.now() < this.until) {
      if (!this.mine || this.timer) return
      // An answer to an earlier choice came late.
      if (step !== this.waiting) intoAddress(this.waiting, false)
      // What is sent while the server is at work on something else may be lost.
      if (Date.now() - this.sent > AGAIN_MS) {
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

  choose(step, jump) {
    if (step === undefined || step === this.current) return
    window.dispatchEvent(new CustomEvent(CHANGED, { detail: { step, from: this } }))
    // A held key passes many steps; the server is asked for the first and for the one where it stops.
    clearTimeout(this.timer)
    const quiet = Date.now() - this.sent
    this.sent = Date.now()
    const go = () => {
      this.timer = 0
      intoAddress(step, jump)
      this.send(step)
    }
    if (quiet > 300) go()
    else this.timer = setTimeout(go, 150)
  }

  close() {
    clearInterval(this.poll)
    clearTimeout(this.timer)
    window.removeEventListener(CHANGED, this.onChosen)
    window.removeEventListener("popstate", this.onBack)
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

// Of tools, by their places in `trace/steps.py`, and of files. Paul Tol's "muted" hues: none of them is an entrant's or
// a verdict's.
const HUES = {
  light: ["#777777", "#88CCEE", "#332288", "#AA4499", "#999933", "#44AA99", "#DDCC77", "#CC6677", "#117733", "#882255"],
  dark: ["#A0A0A0", "#88CCEE", "#8C7FE0", "#D583C8", "#C3C35E", "#5CC7B5", "#DDCC77", "#E08C9A", "#4CB36F", "#C4628F"],
}

function styleOf(root) {
  const style = getComputedStyle(root.host ?? root)
  const named = name => style.getPropertyValue(name).trim()
  const [red, green, blue] = (named("--st-background-color").match(/[0-9a-f]{2}/gi) ?? ["ff", "ff", "ff"]).map(part => parseInt(part, 16))
  return { named, palette: red + green + blue < 384 ? HUES.dark : HUES.light }
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
