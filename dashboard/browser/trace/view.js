// The reader's current view. The address holds it, so every state of the page is a link. The browser shows loaded steps
// at once and tells Python in the background; Python then sends the parts needed next. Stepping replaces the current
// entry of the browser's history; a jump adds one.
import { part } from "../lib/parts.js"

const NAMES = { tab: "step_tab", file: "step_file", line: "step_line", local: "step_local", find: "find", zoom: "zoom" }
const NUMBER = /^\d{1,9}$/
const QUIET_MS = 150
const AGAIN_MS = 2000
const TIMES = 20
const MOST_CHARS = 500 // As in view.py.

export class View {
  constructor(show) {
    this.show = show
    this.path = location.pathname
    this.seen = null
    this.told = 0
    this.times = 0
    this.timer = 0
    this.load = ""
    this.follow = this.follow.bind(this)
    window.addEventListener("popstate", this.follow)
    // The page's own links change the address without an event.
    this.poll = setInterval(this.follow, 150)
  }

  close() {
    clearInterval(this.poll)
    clearTimeout(this.timer)
    window.removeEventListener("popstate", this.follow)
  }

  update(data, send) {
    this.send = send
    const first = this.data === undefined
    this.data = data
    if (first) {
      this.seen = location.search
      this.read()
    } else if (this.live) this.step = data.start
  }

  read() {
    const asked = new URLSearchParams(location.search)
    const step = asked.getAll("step").at(-1) ?? null
    // A reader who has not selected a step of a live episode sees its newest one.
    this.live = step === null || !NUMBER.test(step)
    this.step = this.live ? this.data.start : Number(step)
    for (const [name, parameter] of Object.entries(NAMES)) this[name] = asked.getAll(parameter).at(-1)?.replaceAll("\0", "").slice(0, MOST_CHARS) || null
    this.line = NUMBER.test(this.line ?? "") ? Number(this.line) : null
    this.pinned = this.step
  }

  here() {
    return location.pathname === this.path && Number(new URLSearchParams(location.search).get("id")) === this.data.episode
  }

  follow() {
    if (!this.data || !this.here()) return
    if (location.search !== this.seen && !this.timer) {
      this.seen = location.search
      this.read()
      this.show(true)
      this.tell()
    } else if (this.missing && this.told && !this.timer && this.times < TIMES && Date.now() - this.told > AGAIN_MS) {
      // The server may lose a message that arrives while it is busy, so we send it again. We never request what the
      // address named when the page was opened: the server sends that unasked. Streamlit would deliver the request
      // late, and a reader who has gone back in the meantime would be shown this page again, empty.
      this.times++
      this.send(this.said())
      this.told = Date.now()
    }
  }

  // `jump`: add an entry to the browser's history, so that Back returns to the present view.
  change(values, jump) {
    if (Object.entries(values).every(([name, value]) => this[name] === value)) return
    if (jump && this.timer) this.write(false)
    Object.assign(this, values)
    if ("step" in values) this.live = false
    if ("step" in values && !("file" in values) && this.line === null) this.file = null
    if ("file" in values) this.pinned = this.step
    this.load = ""
    this.show("step" in values)
    // A held key passes many steps. Only the first and the last of them reach the address and the server.
    const quiet = Date.now() - this.told > 2 * QUIET_MS
    clearTimeout(this.timer)
    this.timer = 0
    if (jump || quiet) {
      this.write(jump)
      this.tell()
    } else {
      this.timer = setTimeout(() => {
        this.timer = 0
        if (!this.here()) return
        this.write(false)
        this.tell()
      }, QUIET_MS)
    }
  }

  write(jump) {
    const url = new URL(location.href)
    const said = { step: this.live ? null : this.step }
    for (const [name, parameter] of Object.entries(NAMES)) said[parameter] = this[name]
    for (const [parameter, value] of Object.entries(said)) {
      value === null ? url.searchParams.delete(parameter) : url.searchParams.set(parameter, value)
    }
    if (url.href !== location.href) history[jump ? "pushState" : "replaceState"](history.state, "", url)
    this.seen = location.search
  }

  tell() {
    this.told = Date.now()
    this.times = 0
    this.send(this.said())
  }

  said() {
    const { step, tab, local, find, load } = this
    return { step: this.live ? null : step, tab, local, find, load, file: this.pinned === step ? this.file : null }
  }

  // Request the whole of a truncated text.
  want(load) {
    this.load = load
    this.tell()
  }

  part(name) {
    return part(this.data.episode, name)
  }

  // All parts of a step; undefined until they have arrived.
  detail(step) {
    const first = Math.floor(step / this.data.chunk) * this.data.chunk
    return this.part(`steps:${first}`)?.find(each => each.step === step)
  }
}
