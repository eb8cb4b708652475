// Two traces of one task. Both are at one line of their alignment; each shows its own step of that line.
import { mount } from "../lib/component.js"
import { differing } from "../lib/difference.js"
import { element } from "../lib/dom.js"
import { listen } from "../lib/keys.js"
import { countOf } from "../lib/numbers.js"
import { whenFed } from "../lib/parts.js"
import { inView } from "../lib/windowed.js"
import { Side } from "./side.js"
import { PANES } from "./step.js"
import { Tabs } from "./tabs.js"

const LINE = 26
const AGAIN_MS = 2000
const TIMES = 20
const QUIET_MS = 150

class Beside {
  constructor(root) {
    this.root = root
    this.readout = root.querySelector(".readout")
    this.box = root.querySelector(".pairs")
    this.space = this.box.querySelector(".space")
    this.local = null
    this.zoom = null
    this.told = 0
    const template = root.querySelector("template")
    this.tabs = new Tabs(root, PANES, pane => this.change({ pane }, true))
    this.sides = ["A", "B"].map(name => new Side(this, name, template))
    root.querySelector(".times").replaceChildren(...this.sides.map(side => side.time))
    root.querySelector(".sides").replaceChildren(...this.sides.map(side => side.section))
    const works = this.works()
    for (const [name, key] of Object.entries({ parted: "f", before: "p", after: "n", previous: "k", next: "j" })) {
      root.querySelector(`[data-do="${name}"]`).onclick = works[key]
    }
    this.box.onscroll = () => requestAnimationFrame(() => this.list())
    this.follow = this.follow.bind(this)
    window.addEventListener("popstate", this.follow)
    const again = setInterval(() => this.again(), AGAIN_MS)
    this.ends = [
      listen(event => this.key(event)),
      whenFed(() => this.show()),
      () => window.removeEventListener("popstate", this.follow),
      () => clearInterval(again),
      () => clearTimeout(this.timer),
    ]
  }

  close() {
    for (const end of this.ends) end()
    for (const side of this.sides) side.close()
  }

  update(data, send) {
    this.send = send
    const same = JSON.stringify(data) === this.given
    if (same) return
    this.given = JSON.stringify(data)
    this.data = data
    this.path = location.pathname
    this.read()
    this.sides.forEach((side, place) => side.update(data.sides[place], place))
    this.space.style.height = `${data.pairs.length * LINE}px`
    this.show(true)
  }

  read() {
    const asked = name => new URLSearchParams(location.search).getAll(name).at(-1) ?? ""
    const at = /^\d{1,9}$/.test(asked("at")) ? Number(asked("at")) : (this.data.split ?? 0)
    this.pane = PANES.includes(asked("step_tab")) ? asked("step_tab") : "Step"
    this.at = Math.min(at, this.data.pairs.length - 1)
  }

  follow() {
    if (location.pathname !== this.path) return
    this.read()
    this.changed(true)
  }

  // The steps of a line. Where they part, one side may do the same a little later; then its next action is shown.
  pair() {
    return this.at === this.data.split ? this.data.parted : this.data.pairs[this.at]
  }

  // `jump`: add an entry to the browser's history.
  change(values, jump = false) {
    if (values.at === undefined) delete values.at
    Object.assign(this, values)
    const url = new URL(location.href)
    url.searchParams.set("at", this.at)
    this.pane === "Step" ? url.searchParams.delete("step_tab") : url.searchParams.set("step_tab", this.pane)
    if (url.href !== location.href) history[jump ? "pushState" : "replaceState"](history.state, "", url)
    this.changed(true)
  }

  changed(moved = false) {
    this.show(moved)
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.tell(), QUIET_MS)
  }

  tell() {
    this.told = Date.now()
    this.times = 0
    this.send("view", this.said())
  }

  said() {
    return { at: this.at, tab: this.pane, local: this.local, sides: this.sides.map(side => side.asked()) }
  }

  // The server may lose a message that arrives while it is busy. What the address named comes unasked.
  again() {
    if (!this.missing || !this.told || this.times >= TIMES || location.pathname !== this.path) return
    this.times++
    this.send("view", this.said())
  }

  show(moved = false) {
    if (!this.data) return
    this.tabs.show(this.pane)
    const [a, b] = this.sides
    const whole = [a.show(b), b.show(a)]
    if (whole.every(Boolean)) {
      this.compare()
      if (moved || this.missing) this.face()
    }
    this.missing = !whole.every(Boolean)
    for (const side of this.sides) side.lanes.draw()
    if (moved) this.reveal()
    this.list()
    this.say()
  }

  // Marks the lines of the sources that only one of the sides has.
  compare() {
    const [a, b] = this.sides
    const same = a.source.path === b.source.path && a.source.text && b.source.text
    const texts = same ? this.sides.map(side => side.texts()) : [[], []]
    const found = differing(...texts)
    this.sides.forEach((side, place) => {
      side.source.differs = new Set([...found[place]].map(at => side.source.first + at))
      side.source.draw()
    })
  }

  // Lets equal lines of one file face each other, where both lines that matter stay in view.
  face() {
    const [a, b] = this.sides.map(side => side.source)
    if (a.path !== b.path) return
    const [leading, other] = a.target() === undefined ? [b, a] : [a, b]
    const line = other.target()
    if (line === undefined || leading.sees(line)) other.box.scrollTop = leading.box.scrollTop
  }

  say() {
    const differences = this.data.pairs.filter(pair => !pair[2]).length
    const where = `Step ${this.at} of ${this.data.pairs.length - 1}`
    this.readout.textContent = `${where}: ${this.data.pairs[this.at][2] ? "the same action" : "different actions"}; ${countOf(differences, "difference")}`
  }

  reveal() {
    const top = this.at * LINE
    const { scrollTop, clientHeight } = this.box
    if (top < scrollTop || top + LINE > scrollTop + clientHeight) this.box.scrollTop = top - clientHeight / 3
  }

  list() {
    const [first, end] = inView(this.box.scrollTop, this.box.clientHeight, LINE, this.data.pairs.length)
    const lines = []
    for (let at = first; at < end; at++) lines.push(this.line(at))
    this.space.replaceChildren(...lines)
    const chosen = this.space.querySelector('[aria-selected="true"]')
    chosen ? this.box.setAttribute("aria-activedescendant", chosen.id) : this.box.removeAttribute("aria-activedescendant")
  }

  line(at) {
    const [, , same] = this.data.pairs[at]
    const made = element("div", same ? "pair" : "pair parts")
    made.id = `pair-${at}`
    made.setAttribute("role", "option")
    made.setAttribute("aria-selected", String(at === this.at))
    made.setAttribute("aria-posinset", at + 1)
    made.setAttribute("aria-setsize", this.data.pairs.length)
    made.style.top = `${at * LINE}px`
    const texts = this.data.texts[at].map((text, place) => {
      const did = element("span", "did", text)
      if (text) did.prepend(this.sides[place].square(at))
      return did
    })
    made.append(texts[0], element("span", "sign", same ? "=" : "≠"), texts[1])
    made.onclick = () => this.change({ at }, true)
    return made
  }

  key(event) {
    const work = this.works()[event.key] ?? (this.root.activeElement === this.box ? { ArrowDown: this.works().j, ArrowUp: this.works().k }[event.key] : undefined)
    if (!work) return false
    work()
    return true
  }

  works() {
    const parts = at => !this.data.pairs[at][2]
    const seek = way => () => {
      let at = this.at + way
      while (at >= 0 && at < this.data.pairs.length && !parts(at)) at += way
      if (at >= 0 && at < this.data.pairs.length) this.change({ at }, true)
    }
    const go = way => () => this.change({ at: Math.max(0, Math.min(this.data.pairs.length - 1, this.at + way)) })
    const panes = Object.fromEntries(PANES.map((pane, at) => [at + 1, () => this.change({ pane }, true)]))
    return { j: go(1), k: go(-1), n: seek(1), p: seek(-1), f: () => this.change({ at: this.data.split ?? 0 }, true), ...panes }
  }
}

export default mount(root => new Beside(root))
