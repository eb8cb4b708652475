// The timeline: what was done, where the program stood, how deep, how the tests stood and how near the fault it was.
// Name, label, height, what it shows, and which steps it has something to show of: a lane without any is left out.
const LANES = [
  ["milestones", "Milestones", 14, "Round: reached for the first time. Triangle: the failure point.", () => true],
  ["tool", "Tool", 14, "Pale: the tool answered with an error.", () => true],
  ["place", "Paused at", 24, "The line where the debugger stood: a colour per file, later lines further down.", row => row.file],
  ["depth", "Stack depth", 18, "How many calls deep the debugger stood.", row => row.depth !== null],
  ["tests", "Tests", 20, "Passing below, failing above; pale: as last run.", row => row.passed !== null && row.failed !== null],
  ["distance", "To the fault", 24, "From above: at the fault, in its function, in its file, elsewhere.", row => row.distance],
]
const GAP = 5
const LEVELS = ["line", "function", "file", "elsewhere"]

class Lanes {
  constructor(root) {
    this.root = root
    this.canvas = root.querySelector("canvas")
    this.readout = root.querySelector(".readout")
    this.labels = root.querySelector(".labels")
    this.selection = new Selection(() => this.draw())
    this.canvas.onclick = event => this.selection.choose(this.at(event)?.step, true)
    this.canvas.onmousemove = event => this.say(this.at(event))
    this.canvas.onmouseleave = () => this.say()
    this.observer = new ResizeObserver(() => this.draw())
    this.observer.observe(this.canvas.parentElement)
  }

  close() {
    this.selection.close()
    this.observer.disconnect()
  }

  update(data) {
    this.data = data
    this.lanes = LANES.filter(lane => data.rows.some(lane[4]))
    this.height = this.lanes.reduce((sum, lane) => sum + lane[2] + GAP, 0)
    this.labels.replaceChildren(
      ...this.lanes.map(([, label, height, help]) => {
        const made = element("div", "label", label)
        made.title = help
        made.style.height = made.style.lineHeight = `${height}px`
        made.style.marginBottom = `${GAP}px`
        return made
      }),
    )
    this.selection.update(data.start, this.selection.send)
    this.steps = new Map(data.rows.map((row, at) => [row.step, at]))
    const files = new Map()
    for (const row of data.rows) {
      if (!row.file) continue
      const range = files.get(row.file) ?? [row.line, row.line]
      files.set(row.file, [Math.min(range[0], row.line), Math.max(range[1], row.line)])
    }
    this.files = files
    this.deepest = Math.max(1, ...data.rows.map(row => row.depth ?? 0))
    this.draw()
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect()
    const at = Math.floor(((event.clientX - box.left) / box.width) * this.data.rows.length)
    return this.data.rows[Math.max(0, Math.min(at, this.data.rows.length - 1))]
  }

  say(row = this.data.rows[this.steps.get(this.selection.current) ?? -1]) {
    this.readout.textContent = row ? [`Step ${row.step}`, row.tool, ...row.about].join(" · ") : ""
  }

  draw() {
    if (!this.data) return
    const { canvas, data } = this
    const width = canvas.parentElement.clientWidth
    const scale = window.devicePixelRatio || 1
    canvas.style.height = `${this.height}px`
    canvas.width = Math.max(1, Math.round(width * scale))
    canvas.height = this.height * scale
    const context = canvas.getContext("2d")
    context.scale(scale, scale)
    this.style = styleOf(this.root)
    const step = width / Math.max(1, data.rows.length)
    const selected = this.steps.get(this.selection.current)
    if (selected !== undefined) {
      context.fillStyle = this.style.named("--st-primary-color")
      context.globalAlpha = 0.22
      context.fillRect(selected * step - 1, 0, Math.max(step, 2) + 2, this.height)
      context.globalAlpha = 1
    }
    let top = 0
    for (const [name, , height] of this.lanes) {
      context.fillStyle = this.style.named("--st-border-color")
      context.fillRect(0, top + height, width, 1)
      this[name](context, top, height, step)
      top += height + GAP
    }
    this.say()
  }

  milestones(context, top, height, step) {
    for (const [at, row] of this.data.rows.entries()) {
      const failed = row.step === this.data.failure
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
        context.moveTo(x - 1, top + 2)
        context.lineTo(x + 9, top + 2)
        context.lineTo(x + 4, top + height - 1)
        context.fill()
      }
    }
  }

  tool(context, top, height, step) {
    for (const [at, row] of this.data.rows.entries()) {
      context.fillStyle = this.style.palette[this.data.tools[row.tool]]
      context.globalAlpha = row.ok ? 1 : 0.4
      context.fillRect(at * step, top, Math.max(step - (step > 4 ? 1 : 0), 0.75), height)
    }
    context.globalAlpha = 1
  }

  place(context, top, height, step) {
    const names = [...this.files.keys()]
    for (const [at, row] of this.data.rows.entries()) {
      if (!row.file) continue
      const [low, high] = this.files.get(row.file)
      const share = high > low ? (row.line - low) / (high - low) : 0.5
      context.fillStyle = this.style.palette[names.indexOf(row.file) % this.style.palette.length]
      context.fillRect(at * step, top + share * (height - 5), Math.max(step - 1, 2), 4)
    }
  }

  depth(context, top, height, step) {
    context.fillStyle = this.style.named("--st-violet-color")
    for (const [at, row] of this.data.rows.entries()) {
      const high = ((row.depth ?? 0) / this.deepest) * (height - 2)
      if (high) context.fillRect(at * step, top + height - high, Math.max(step - 1, 1), high)
    }
  }

  // A result holds until the next one; where it was measured it is drawn full.
  tests(context, top, height, step) {
    let known = null
    for (const [at, row] of this.data.rows.entries()) {
      if (row.passed !== null && row.failed !== null) known = row
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
    for (const [at, row] of this.data.rows.entries()) {
      const level = LEVELS.indexOf(row.distance)
      if (level < 0) continue
      context.fillStyle = this.style.named(level === 0 ? "--st-red-color" : "--st-blue-color")
      context.fillRect(at * step, top + (level / 3) * (height - 5), Math.max(step - 1, 2), 4)
    }
  }
}

export default component => mount(component, Lanes)
