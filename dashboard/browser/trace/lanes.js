// The timeline. Its lanes show milestones and tools, where and how deep the debugger was paused, the test results and
// the distance to the fault; if there are any, also the values of a watched local and the hits of a search. The reader
// can zoom in.
// A lane: name, label, height, explanation, and whether a step has something to show in it. A lane without such steps
// is left out.
import { element } from "../lib/dom.js"
import { HUES, styleOf } from "../lib/theme.js"

const LANES = [
  ["milestones", "Milestones", 12, "Round: reached for the first time. Triangle: the failure point.", () => true],
  ["differs", "Differs", 8, "Where the other trace has another action, or none.", row => row.differs],
  ["tool", "Tool", 12, "Pale: the tool answered with an error.", () => true],
  ["place", "Paused at", 18, "The line where the debugger stood: a colour per file, later lines further down.", row => row.file],
  ["depth", "Stack depth", 14, "How many calls deep the debugger stood.", row => row.depth !== null],
  ["tests", "Tests", 14, "Passing below, failing above; pale: as last run.", row => row.passed !== null && row.failed !== null],
  ["distance", "To the fault", 16, "From above: at the fault, in its function, in its file, elsewhere.", row => row.distance],
]
const WATCHED = ["values", "Watched", 12, "The local's values: a change of colour is a change of value."]
const FOUND = ["found", "Found", 8, "Steps with what was looked for."]
const GAP = 4
const LEVELS = ["line", "function", "file", "elsewhere"]

export class Lanes {
  constructor(root, view, say) {
    this.root = root
    this.view = view
    this.say = say
    this.canvas = root.querySelector("canvas")
    this.labels = root.querySelector(".labels")
    this.here = root.querySelector(".here")
    this.canvas.onpointerdown = event => {
      this.from = this.at(event)
      this.canvas.setPointerCapture(event.pointerId)
    }
    this.canvas.onpointerup = event => this.released(this.at(event))
    this.canvas.onpointermove = event => this.tell(this.at(event))
    this.canvas.onpointerleave = () => this.tell()
    this.observer = new ResizeObserver(() => this.draw())
    this.observer.observe(this.canvas.parentElement)
  }

  close() {
    this.observer.disconnect()
  }

  // A click selects a step. A drag selects the part of the timeline to show.
  released(row) {
    const from = this.from
    this.from = null
    if (!from || !row) return
    if (Math.abs(row.step - from.step) * this.step < 12) this.view.change({ step: row.step }, true)
    else this.view.change({ zoom: [from.step, row.step].sort((a, b) => a - b).join("-") }, true)
  }

  // Zoom in (2), out (0.5) or to the whole timeline (0), around the selected step.
  zoom(by) {
    const { rows } = this.view.data
    const wide = Math.ceil(this.rows.length / by)
    if (!by || wide >= rows.length) return this.view.change({ zoom: null })
    const width = Math.max(10, wide)
    const middle = this.view.step - rows[0].step
    const first = Math.max(0, Math.min(middle - Math.floor(width / 2), rows.length - width))
    this.view.change({ zoom: `${rows[first].step}-${rows[first + width - 1].step}` })
  }

  update() {
    const { rows } = this.view.data
    this.drawn = null
    const files = new Map()
    for (const row of rows) {
      if (!row.file) continue
      const range = files.get(row.file) ?? [row.line, row.line]
      files.set(row.file, [Math.min(range[0], row.line), Math.max(range[1], row.line)])
    }
    this.files = files
    this.deepest = Math.max(1, ...rows.map(row => row.depth ?? 0))
    const { lanes } = this.view
    this.known = LANES.filter(lane => (lanes?.includes(lane[0]) ?? true) && rows.some(lane[4]))
  }

  // The rows to show: the selected part of the timeline, moved so that it includes the selected step.
  range() {
    const { rows } = this.view.data
    const [, low, high] = /^(\d{1,9})-(\d{1,9})$/.exec(this.view.zoom ?? "") ?? []
    if (low === undefined || !rows.length) return rows
    let first = rows.findIndex(row => row.step >= Number(low))
    const width = Math.max(2, Math.min(rows.length, Number(high) - Number(low) + 1))
    const place = this.view.step - rows[0].step
    if (first < 0) first = 0
    if (place < first) first = place
    if (place >= first + width) first = place - width + 1
    first = Math.max(0, Math.min(first, rows.length - width))
    return rows.slice(first, first + width)
  }

  draw() {
    if (!this.known) return
    const { canvas } = this
    const watched = this.view.local && this.view.part(`local:${this.view.local}`)
    this.spans = watched?.spans ?? []
    this.hits = new Set((this.view.find && this.view.part(`find:${this.view.find}`))?.map(hit => hit.step) ?? [])
    this.lanes = [...this.known, ...(this.spans.length ? [WATCHED] : []), ...(this.hits.size ? [FOUND] : [])]
    this.label()
    this.rows = this.range()
    const height = this.lanes.reduce((sum, lane) => sum + lane[2] + GAP, 0)
    const width = canvas.parentElement.clientWidth
    this.step = width / Math.max(1, this.rows.length)
    this.style = styleOf(this.root)
    // Moving to another step does not paint the lanes again.
    const scale = window.devicePixelRatio || 1
    const drawn = [this.rows[0]?.step, this.rows.length, width, height, scale, this.view.local, this.view.find, this.spans.length, this.hits.size, this.style.palette === HUES.dark].join()
    if (drawn !== this.drawn) this.paint(height, width, scale)
    this.drawn = drawn
    const selected = this.rows.findIndex(row => row.step === this.view.step)
    this.here.hidden = selected < 0
    this.here.style.transform = `translateX(${selected * this.step - 1}px)`
    this.here.style.width = `${Math.max(this.step, 2) + 2}px`
    this.tell()
  }

  paint(height, width, scale) {
    const { canvas } = this
    canvas.style.height = `${height}px`
    canvas.width = Math.max(1, Math.round(width * scale))
    canvas.height = height * scale
    const context = canvas.getContext("2d")
    context.scale(scale, scale)
    let top = 0
    for (const [name, , tall] of this.lanes) {
      context.fillStyle = this.style.named("--st-border-color")
      context.fillRect(0, top + tall, width, 1)
      this[name](context, top, tall, this.step)
      top += tall + GAP
    }
  }

  label() {
    const shown = this.lanes.map(lane => lane[0]).join()
    if (this.labelled === shown) return
    this.labelled = shown
    this.labels.replaceChildren(
      ...this.lanes.map(([, label, height, help]) => {
        const made = element("div", "label", label)
        made.title = help
        made.style.height = made.style.lineHeight = `${height}px`
        made.style.marginBottom = `${GAP}px`
        return made
      }),
    )
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect()
    const at = Math.floor(((event.clientX - box.left) / box.width) * this.rows.length)
    return this.rows[Math.max(0, Math.min(at, this.rows.length - 1))]
  }

  tell(row = this.rows.find(each => each.step === this.view.step)) {
    this.say(row ? [`Step ${row.step}`, row.tool, ...row.about].join(" · ") : "")
  }

  milestones(context, top, height, step) {
    for (const [at, row] of this.rows.entries()) {
      const failed = row.step === this.view.data.failure
      if (!failed && !row.marks.length) continue
      const x = (at + 0.5) * step
      if (row.marks.length) {
        context.fillStyle = this.style.named("--st-green-color")
        context.beginPath()
        context.arc(failed ? x - 6 : x, top + height / 2, 4, 0, 7)
        context.fill()
      }
      if (failed) {
        context.fillStyle = this.style.named("--st-red-color")
        context.beginPath()
        context.moveTo(x - 1, top + 1)
        context.lineTo(x + 9, top + 1)
        context.lineTo(x + 4, top + height - 1)
        context.fill()
      }
    }
  }

  differs(context, top, height, step) {
    context.fillStyle = this.style.named("--st-orange-color")
    for (const [at, row] of this.rows.entries()) if (row.differs) context.fillRect(at * step, top, Math.max(step - (step > 4 ? 1 : 0), 1), height)
  }

  tool(context, top, height, step) {
    for (const [at, row] of this.rows.entries()) {
      if (row.tool === null) continue
      context.fillStyle = this.style.palette[this.view.data.tools[row.tool]]
      context.globalAlpha = row.ok ? 1 : 0.4
      context.fillRect(at * step, top, Math.max(step - (step > 4 ? 1 : 0), 0.75), height)
    }
    context.globalAlpha = 1
  }

  place(context, top, height, step) {
    const names = [...this.files.keys()]
    for (const [at, row] of this.rows.entries()) {
      if (!row.file) continue
      const [low, high] = this.files.get(row.file)
      const share = high > low ? (row.line - low) / (high - low) : 0.5
      context.fillStyle = this.style.palette[names.indexOf(row.file) % this.style.palette.length]
      context.fillRect(at * step, top + share * (height - 4), Math.max(step - 1, 2), 4)
    }
  }

  depth(context, top, height, step) {
    context.fillStyle = this.style.named("--st-gray-color") // no tool has it
    for (const [at, row] of this.rows.entries()) {
      const high = ((row.depth ?? 0) / this.deepest) * (height - 2)
      if (high) context.fillRect(at * step, top + height - high, Math.max(step - 1, 1), high)
    }
  }

  // A test result is shown until the next one: opaque at the step that measured it, pale at the later steps.
  tests(context, top, height, step) {
    const measured = row => row.passed !== null && row.failed !== null
    let known = this.view.data.rows.filter(row => row.step < this.rows[0]?.step && measured(row)).at(-1) ?? null
    for (const [at, row] of this.rows.entries()) {
      if (measured(row)) known = row
      if (!known) continue
      const total = known.passed + known.failed
      const share = total ? known.passed / total : 0
      context.globalAlpha = known === row ? 1 : 0.35
      context.fillStyle = this.style.named("--st-orange-color")
      context.fillRect(at * step, top, Math.max(step, 1), height * (1 - share))
      context.fillStyle = this.style.named("--st-green-color")
      context.fillRect(at * step, top + height * (1 - share), Math.max(step, 1), height * share)
    }
    context.globalAlpha = 1
  }

  distance(context, top, height, step) {
    for (const [at, row] of this.rows.entries()) {
      const level = LEVELS.indexOf(row.distance)
      if (level < 0) continue
      context.fillStyle = this.style.named(level === 0 ? "--st-red-color" : "--st-blue-color")
      context.fillRect(at * step, top + (level / 3) * (height - 4), Math.max(step - 1, 2), 4)
    }
  }

  values(context, top, height, step) {
    const first = this.rows[0]?.step ?? 0
    for (const [at, span] of this.spans.entries()) {
      context.fillStyle = this.style.named(at % 2 ? "--st-blue-color" : "--st-violet-color")
      context.fillRect((span.first - first) * step, top, Math.max((span.last - span.first + 1) * step - 1, 1), height)
    }
  }

  found(context, top, height, step) {
    context.fillStyle = this.style.named("--st-primary-color")
    for (const [at, row] of this.rows.entries()) {
      if (this.hits.has(row.step)) context.fillRect(at * step, top, Math.max(step - 1, 2), height)
    }
  }
}
