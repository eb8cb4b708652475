// The whole debugger: keeps all panes on the current view, and handles mouse and keyboard.
import { mount } from "../lib/component.js"
import { button } from "../lib/dom.js"
import { listen } from "../lib/keys.js"
import { whenFed } from "../lib/parts.js"
import { Frame } from "./frame.js"
import { help } from "./help.js"
import { Lanes } from "./lanes.js"
import { List } from "./list.js"
import { Search } from "./search.js"
import { Source } from "./source.js"
import { Stack } from "./stack.js"
import { PANES, Step } from "./step.js"
import { Tabs } from "./tabs.js"
import { View } from "./view.js"

const TABS = ["Step", "Source", "Stack", "Diff", "Tests", "Model"]

class Debugger {
  constructor(root) {
    this.root = root
    this.view = new View(moved => this.show(moved))
    this.lanes = new Lanes(root, this.view, text => (root.querySelector(".readout").textContent = text))
    this.list = new List(root, this.view)
    this.source = new Source(root, this.view)
    this.stack = new Stack(root, this.view)
    this.step = new Step(root, this.view)
    this.search = new Search(root, this.view)
    this.frame = new Frame(root, () => this.show(false))
    this.help = help(root)
    this.ends = [listen(event => this.key(event)), whenFed(() => this.show(false))]
    this.tabs = new Tabs(root, TABS, name => this.view.change({ tab: name === "Step" ? null : name }, true))
    for (const [name, work] of Object.entries({ nearer: () => this.lanes.zoom(2), further: () => this.lanes.zoom(0.5), help: () => this.help.showModal(), fold: () => this.fold() })) {
      root.querySelector(`[data-do="${name}"]`).onclick = work
    }
    this.thumbs = ["back", "on"].map(name => root.querySelector(`[data-do="${name}"]`))
    this.thumbs.forEach((thumb, place) => (thumb.onclick = () => this.go(place ? "j" : "k")))
    for (const way of root.querySelectorAll(".window")) way.onclick = () => this.view.change({ step: Number(way.dataset.step) }, true)
  }

  close() {
    for (const end of this.ends) end()
    for (const part of [this.view, this.lanes, this.list, this.source, this.frame]) part.close()
  }

  update(data, send) {
    this.view.update(data, view => send("view", view))
    this.lanes.update()
    this.list.update()
    this.root.querySelector(".grid").dataset.debugs = data.debugs ? "yes" : "no"
    this.tell(data.story)
    this.root.querySelector('[data-do="fold"]').hidden = !data.repeats.length
    const end = data.rows.at(-1)?.step ?? 0
    for (const [name, step, shown] of [["earlier", data.first - 1, data.first > 0], ["later", end + 1, end < data.last]]) {
      const way = this.root.querySelector(`.window.${name}`)
      way.hidden = !shown
      way.dataset.step = step
    }
    this.show(true)
  }

  // What happened, in sentences whose clauses lead to their steps.
  tell(story) {
    const line = this.root.querySelector(".story")
    const said = JSON.stringify(story)
    if (line.dataset.said === said) return
    line.dataset.said = said
    line.hidden = !story.length
    line.replaceChildren(...story.flatMap(clauses => clauses.flatMap(([text, step], place) => {
      const made = step === null ? text : button("", text, () => this.view.change({ step }, true))
      return [made, place < clauses.length - 1 ? ", " : ". "]
    })))
  }

  fold() {
    this.list.fold(!this.list.folding)
    this.root.querySelector('[data-do="fold"]').setAttribute("aria-pressed", String(this.list.folding))
  }

  // A narrow window shows one tab at a time. A wide one always shows source and stack.
  pane() {
    const tab = TABS.includes(this.view.tab) ? this.view.tab : "Step"
    this.root.querySelector(".grid").dataset.tab = tab
    return { tab, pane: PANES.includes(tab) ? tab : "Step" }
  }

  show(moved) {
    if (!this.view.data) return
    const { tab, pane } = this.pane()
    this.tabs.hide("Stack", !this.view.data.debugs)
    this.tabs.show(this.frame.narrow ? tab : pane)
    this.thumbs[0].disabled = this.view.step <= 0
    this.thumbs[1].disabled = this.view.step >= this.view.data.last
    if (moved) {
      this.list.uncover(this.view.step)
      this.list.reveal()
    } else this.list.draw()
    this.search.show()
    this.lanes.draw()
    const detail = this.view.detail(this.view.step)
    const whole = detail && this.source.show(detail)
    if (detail) {
      this.stack.show(detail)
      this.step.show(detail, pane)
    } else this.step.coming(this.view.step)
    const asked = [
      PANES.indexOf(pane) > 0 && `${pane}:${this.view.step}`,
      this.view.local && `local:${this.view.local}`,
      this.view.find && `find:${this.view.find}`,
      this.view.load && `${this.view.load}:${this.view.step}`,
    ]
    const there = this.view.step <= this.view.data.last
    this.view.missing = there && (!whole || asked.some(name => name && this.view.part(name) === undefined))
  }

  // A step by a key that leads to one. Below a long header, the list may not be in view yet.
  go(key) {
    const row = this.moves()[key]()
    if (row) this.view.change({ step: row.step })
    this.list.space.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }

  key(event) {
    if (this.help.open) return false
    const work = this.moves()[event.key] ?? this.works()[event.key] ?? this.within()[event.key]
    if (!work) return false
    const row = work()
    if (row && "step" in row) this.view.change({ step: row.step }, !["j", "k", "ArrowDown", "ArrowUp"].includes(event.key))
    return true
  }

  // Keys that lead to a step.
  moves() {
    const at = this.list.position()
    const { visible } = this.list
    const { data, step } = this.view
    const here = visible[at]
    const same = row => row.tool === here?.tool && row.step !== step
    return {
      j: () => visible[at + (here?.step === step ? 1 : 0)] ?? (data.rows.at(-1)?.step < data.last && { step: data.rows.at(-1).step + 1 }),
      k: () => visible[at - 1] ?? (data.first > 0 && { step: data.first - 1 }),
      n: () => visible.slice(at).find(same),
      p: () => visible.slice(0, at).reverse().find(same),
      f: () => data.failure !== null && { step: data.failure },
    }
  }

  works() {
    return {
      "/": () => this.search.input.focus(),
      "?": () => this.help.showModal(),
      ".": () => this.search.go(1),
      ",": () => this.search.go(-1),
      "]": () => this.source.go(1),
      "[": () => this.source.go(-1),
      "+": () => this.lanes.zoom(2),
      "-": () => this.lanes.zoom(0.5),
      0: () => this.lanes.zoom(0),
      x: () => this.fold(),
      o: () => this.list.open(this.view.step),
      ...Object.fromEntries(PANES.map((name, at) => [at + 1, () => this.view.change({ tab: at ? name : null }, true)])),
    }
  }

  // Keys that work only while one pane has the focus.
  within() {
    const focused = this.root.activeElement
    if (focused === this.list.box) {
      const { j, k } = this.moves()
      const { visible } = this.list
      return { ArrowDown: j, ArrowUp: k, Home: () => visible[0], End: () => visible.at(-1) }
    }
    if (focused === this.source.box && this.source.shown?.file) {
      const move = by => () => {
        const line = Math.max(1, (this.source.line() ?? 1) + by)
        this.view.change({ line, file: this.source.shown.path })
      }
      return { ArrowDown: move(1), ArrowUp: move(-1) }
    }
    return {}
  }
}

export default mount(root => new Debugger(root))
