// A source file, with the current line of the debugger and its breakpoints. Only the lines in view are drawn. The agent
// may have written the file, so it is inserted as text, never as markup.
import { button, element } from "../lib/dom.js"
import { countOf } from "../lib/numbers.js"
import { inView } from "../lib/windowed.js"

const LINE = 19

export class Source {
  constructor(root, view) {
    this.view = view
    this.box = root.querySelector(".source")
    this.space = root.querySelector(".lines")
    this.note = root.querySelector(".note")
    this.files = root.querySelector(".files")
    this.history = root.querySelector(".history")
    this.files.onchange = () => view.change({ file: this.files.value, line: null }, true)
    this.box.onscroll = () => requestAnimationFrame(() => this.draw())
    this.observer = new ResizeObserver(() => this.resized())
    this.observer.observe(this.box)
  }

  close() {
    this.observer.disconnect()
  }

  // The file to show, and its text; each is undefined until it has arrived.
  wanted(detail) {
    const { file, pinned, step } = this.view
    const other = file && pinned === step && file !== detail.source.path
    const shown = other ? this.view.part(`source:${step}:${file}`) : detail.source
    return { shown, text: shown?.file ? this.view.part(`file:${shown.file}`) : null }
  }

  show(detail) {
    const { shown, text } = this.wanted(detail)
    if (!shown || text === undefined) return false
    const moved = this.step !== this.view.step || this.path !== shown.path || this.text !== text || this.marked !== this.view.line
    Object.assign(this, { shown, text, path: shown.path, step: this.view.step, marked: this.view.line })
    this.choices()
    this.say()
    const lines = text?.lines ?? shown.excerpt.split("\n")
    this.first = text?.first ?? 1
    this.rows = lines
    const wide = lines.reduce((most, line) => Math.max(most, text ? line.reduce((sum, piece) => sum + piece[1].length, 0) : line.length), 0)
    this.space.style.height = `${lines.length * LINE}px`
    this.space.style.width = `max(100%, ${wide + 9}ch)`
    // Scroll to the line that matters most, not to the top of the file.
    if (moved) this.reveal()
    this.draw()
    this.past()
    return true
  }

  reveal() {
    const target = this.target()
    // Whole lines, so that the first is not cut.
    const above = target === undefined ? 0 : target - this.first - Math.floor(this.box.clientHeight / LINE / 2) + 1
    const most = Math.floor((this.box.scrollHeight - this.box.clientHeight) / LINE)
    this.box.scrollTop = Math.max(0, Math.min(above, most)) * LINE
    this.height = this.box.clientHeight
  }

  // Whether a line is in view.
  sees(line) {
    const top = (line - this.first) * LINE - this.box.scrollTop
    return top >= 0 && top + LINE <= this.box.clientHeight
  }

  // After a resize, keep the line in view if it was in view before.
  resized() {
    const place = this.rows && this.target() !== undefined ? (this.target() - this.first) * LINE - this.box.scrollTop : -1
    if (place >= 0 && place < this.height && !this.sees(this.target())) this.reveal()
    this.height = this.box.clientHeight
    this.draw()
  }

  target() {
    return this.line() ?? this.shown.touched[0] ?? this.shown.breakpoints[0]
  }

  // The line that the reader has marked, or else the current line of the program.
  line() {
    const asked = this.view.line !== null && (this.view.file === null || this.view.file === this.shown.path)
    return asked ? this.view.line : this.shown.current[0]
  }

  choices() {
    const names = [...new Set([this.shown.path, ...this.view.data.files])].filter(Boolean).sort()
    const said = names.join("\n")
    if (this.named !== said) {
      this.named = said
      this.files.replaceChildren(...names.map(name => new Option(name, name)))
    }
    this.files.value = this.shown.path
    this.files.hidden = !names.length
  }

  say() {
    const { shown } = this
    const faults = this.view.data.faults[shown.path] ?? []
    const said = []
    if (shown.file === null) {
      said.push(shown.path ? "More of this file is not stored: only small text files of a task are, as they were given." : "No text of this task's files is stored.")
    } else {
      said.push("as it was after this step")
      if (shown.current.length) said.push("▶ paused here")
      if (shown.breakpoints.length) said.push("● breakpoint")
      if (shown.touched.length) said.push("green: rewritten by this step")
      if (faults.length) said.push("red edge: changed by the known fix")
    }
    this.note.textContent = [said.join(" · "), ...shown.doubts].join(" ")
    this.box.setAttribute("aria-label", `Source of ${shown.path}`)
  }

  draw() {
    if (!this.rows) return
    const [first, end] = inView(this.box.scrollTop, this.box.clientHeight, LINE, this.rows.length)
    const faults = this.view.data.faults[this.shown.path] ?? []
    const marks = [["current", this.shown.current], ["breakpoint", this.shown.breakpoints], ["touched", this.shown.touched], ["fault", faults], ["asked", [this.view.line === null ? undefined : this.line()]], ["differs", [...(this.differs ?? [])]]]
    const lines = []
    for (let at = first; at < end; at++) lines.push(this.drawn(this.rows[at], at, marks))
    this.space.replaceChildren(...lines)
  }

  drawn(pieces, at, marks) {
    const number = this.first + at
    const line = element("div", "line")
    line.style.top = `${at * LINE}px`
    const code = element("code")
    if (this.text === null) {
      code.textContent = pieces
      line.append(code)
      return line
    }
    for (const [name, numbers] of marks) if (numbers.includes(number)) line.classList.add(name)
    const has = name => line.classList.contains(name)
    const gutter = element("span", "gutter", `${has("breakpoint") ? "●" : " "}${has("current") ? "▶" : " "}`)
    const count = element("span", "count", String(number))
    count.title = "Which steps stopped here or edited this line?"
    count.onclick = () => this.view.change({ file: this.shown.path, line: number }, true)
    for (const [kind, part] of pieces) code.append(element("span", kind, part))
    if (!pieces.length) code.textContent = " "
    line.append(gutter, count, code)
    return line
  }

  // The steps that stopped at a line or edited it.
  visits() {
    const line = this.line()
    if (line === undefined || !this.shown) return { line, stops: [], edits: [] }
    const { stops, edits } = this.view.data
    return {
      line,
      stops: (stops[this.shown.path] ?? []).filter(([at]) => at === line).map(([, step]) => step),
      edits: (edits[this.shown.path] ?? []).filter(([low, high]) => low <= line && line <= high).map(([, , step]) => step),
    }
  }

  past() {
    const { line, stops, edits } = this.visits()
    this.history.hidden = line === undefined
    if (line === undefined) return
    const said = `Line ${line}: ${countOf(stops.length, "stop")}${edits.length ? `, ${countOf(edits.length, "edit")}` : ""}`
    const all = [...new Set([...stops, ...edits])]
    const near = all.sort((a, b) => Math.abs(a - this.view.step) - Math.abs(b - this.view.step)).slice(0, 12).sort((a, b) => a - b)
    const steps = near.map(step => {
      const made = button("visit", `${edits.includes(step) ? "✎ " : ""}${step}`, () => this.view.change({ step, line, file: this.shown.path }, true))
      made.setAttribute("aria-label", `Step ${step}`)
      if (step === this.view.step) made.setAttribute("aria-current", "step")
      return made
    })
    this.history.replaceChildren(
      element("span", "", near.length < all.length ? `${said}; the nearest` : said),
      this.turn("‹", "Previous stop or edit at this line ([)", -1),
      ...steps,
      this.turn("›", "Next stop or edit at this line (])", 1),
    )
  }

  turn(sign, label, way) {
    const made = button("visit", sign, () => this.go(way))
    made.setAttribute("aria-label", label)
    made.title = label
    return made
  }

  // To the next (1) or previous (-1) step that stopped at the line or edited it.
  go(way) {
    const { line, stops, edits } = this.visits()
    const all = [...stops, ...edits].sort((a, b) => a - b)
    const step = way > 0 ? all.find(each => each > this.view.step) : all.filter(each => each < this.view.step).at(-1)
    if (step !== undefined) this.view.change({ step, line, file: this.shown.path }, true)
  }
}
