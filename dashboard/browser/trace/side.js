// One of two traces beside each other: its step, source, stack and variables, with what the other side has otherwise.
import { element } from "../lib/dom.js"
import { part } from "../lib/parts.js"
import { styleOf } from "../lib/theme.js"
import { Lanes } from "./lanes.js"
import { placeOf } from "./places.js"
import { Source } from "./source.js"
import { Stack } from "./stack.js"
import { Step } from "./step.js"

const LANES = ["milestones", "differs", "tool", "tests"] // The code has where each is paused.
// A step that only the other side has.
const NOTHING = { tool: null, ok: true, marks: [], about: [], file: "", depth: null, passed: null, failed: null, distance: "" }

export class Side {
  // `whole` has the place of both, `name` is A or B.
  constructor(whole, name, template) {
    Object.assign(this, { whole, name, file: null, line: null, find: null, load: "" })
    this.section = element("section", "side")
    this.section.append(template.content.cloneNode(true))
    for (const [selector, what] of [[".files", "File"], [".history", "Steps at this line"], [".source", "Source"], [".stack", "Stack and local variables"], [".body", "The step"]]) {
      this.section.querySelector(selector).setAttribute("aria-label", `${name}: ${what}`)
    }
    this.time = element("div", "lanes")
    const plot = element("div", "plot")
    const canvas = element("canvas")
    canvas.setAttribute("role", "img")
    canvas.setAttribute("aria-label", `Timeline of ${name}; the list below has the same`)
    const here = element("div", "here")
    plot.append(canvas, here)
    this.time.append(element("b", "who", name), element("div", "labels"), plot)
    this.lanes = new Lanes(this.time, this.timeline(), () => {}) // it would call a line a step
    this.source = new Source(this.section, this)
    this.stack = new Stack(this.section, this)
    this.body = new Step(this.section, this)
    this.absent = this.section.querySelector(".absent")
  }

  close() {
    this.lanes.close()
    this.source.close()
  }

  update(data, place) {
    this.data = data
    this.place = place
    this.section.setAttribute("aria-label", `${this.name}: ${data.entrant}`)
    const rows = new Map(data.rows.map(row => [row.step, row]))
    this.rows = this.whole.data.pairs.map(([a, b, same], at) => {
      const row = rows.get([a, b][place]) ?? NOTHING
      return { ...row, step: at, differs: !same }
    })
    this.at = new Map(this.whole.data.pairs.map((pair, at) => [pair[place], at]))
    this.shown = Object.assign(this.lanes.view, { data: { ...data, rows: this.rows, failure: this.at.get(data.failure) ?? null } })
    this.lanes.update()
  }

  // What the lanes show: the lines of the alignment are their steps, so that both timelines have the same.
  timeline() {
    const { whole } = this
    return {
      lanes: LANES,
      get step() { return whole.at },
      get zoom() { return whole.zoom },
      change: values => whole.change("step" in values ? { at: values.step } : values, true),
      part: () => undefined,
    }
  }

  get step() {
    return this.steps()[0]
  }

  get local() {
    return this.whole.local
  }

  // The step of this side, and whether it is at this line; if not, the one before stays in view.
  steps() {
    const { pairs } = this.whole.data
    const own = this.whole.pair()[this.place]
    if (own !== null) return [own, true]
    for (let at = this.whole.at; at >= 0; at--) if (pairs[at][this.place] !== null) return [pairs[at][this.place], false]
    return [0, false]
  }

  part(name) {
    return part(this.data.episode, name)
  }

  detail() {
    const first = Math.floor(this.step / this.data.chunk) * this.data.chunk
    return this.part(`steps:${first}`)?.find(each => each.step === this.step)
  }

  change(values) {
    if ("step" in values) return this.whole.change({ at: this.at.get(values.step) ?? this.whole.at, ...("local" in values ? { local: values.local } : {}) }, true)
    if ("local" in values) return this.whole.change({ local: values.local }, true)
    Object.assign(this, values)
    this.pinned = this.step
    this.whole.changed()
  }

  want(load) {
    this.load = load
    this.whole.changed()
  }

  // What Python has to send beyond what every step has.
  asked() {
    return { file: this.pinned === this.step ? this.file : null, load: this.load }
  }

  // Returns whether all of it has arrived. `other` is the side to compare with.
  show(other) {
    const [step, there] = this.steps()
    if (this.pinned !== step) Object.assign(this, { file: null, line: null, load: "", pinned: step })
    this.section.classList.toggle("none", !there)
    this.absent.hidden = there
    this.absent.textContent = there ? "" : `${this.name} has no step here. This is its last one before.`
    const detail = this.detail()
    if (!detail) {
      this.body.coming(step)
      return false
    }
    const theirs = other.detail()?.stack
    const known = theirs && theirs.at !== null && detail.stack.at !== null
    this.other = known && {
      name: other.name,
      locals: new Map(theirs.locals.map(local => [local.name, local.value])),
      frames: new Set(theirs.frames.map(placeOf)),
    }
    this.stack.show(detail)
    const { pane } = this.whole
    this.body.show(detail, pane)
    return this.source.show(detail) && (pane === "Step" || this.part(`${pane}:${step}`) !== undefined)
  }

  // The colour of its tool at a line of the alignment.
  square(at) {
    const made = element("span", "square")
    made.style.background = styleOf(this.section).palette[this.data.tools[this.rows[at].tool]]
    return made
  }

  texts() {
    return this.source.rows?.map(line => (typeof line === "string" ? line : line.map(piece => piece[1]).join("")))
  }
}
