// What a cell stands for: shown beside it while the mouse or the mark of the keyboard is there. Python tells the story
// of the cell's episode once the reader stays.
import { element } from "../lib/dom.js"
import { part, whenFed } from "../lib/parts.js"

const STAYS_MS = 200
const GAP = 6

export class Preview {
  constructor(root) {
    this.box = root.querySelector(".preview")
    this.whole = root.querySelector(".whole")
    this.ended = whenFed(() => this.cell && this.fill())
    // The reader may move onto it, to select its text.
    this.box.onpointerenter = () => clearTimeout(this.leaving)
    this.box.onpointerleave = () => this.hide(true)
  }

  close() {
    this.ended()
    clearTimeout(this.timer)
    clearTimeout(this.leaving)
  }

  update(data, send) {
    this.data = data
    this.send = send
  }

  show(cell, row, column) {
    clearTimeout(this.leaving)
    if (this.cell === cell) return
    this.hide()
    Object.assign(this, { cell, row: this.data.rows[row], column })
    cell.setAttribute("aria-describedby", this.box.id)
    const { episode } = this.row?.cells[column] ?? {}
    if (episode && part("grid", `story:${episode}`) === undefined) {
      this.timer = setTimeout(() => this.send("look", episode), STAYS_MS)
    }
    this.fill()
  }

  // `soon`: unless the reader is on the way to the preview itself.
  hide(soon = false) {
    clearTimeout(this.leaving)
    if (soon) {
      this.leaving = setTimeout(() => this.hide(), STAYS_MS)
      return
    }
    clearTimeout(this.timer)
    this.cell?.removeAttribute("aria-describedby")
    this.cell = null
    this.box.hidden = true
  }

  fill() {
    this.box.replaceChildren(...this.content())
    this.box.hidden = false
    const cell = this.cell.getBoundingClientRect()
    const whole = this.whole.getBoundingClientRect()
    const { offsetWidth, offsetHeight } = this.box
    const left = Math.max(0, Math.min(cell.left - whole.left, whole.width - offsetWidth))
    const below = cell.bottom + GAP + offsetHeight < window.innerHeight
    this.box.style.left = `${left}px`
    this.box.style.top = `${(below ? cell.bottom + GAP : cell.top - GAP - offsetHeight) - whole.top}px`
  }

  content() {
    const entrant = this.data.entrants[this.column]
    const { row } = this
    if (!row) return [element("b", "", entrant ?? this.data.rows.length), element("p", "note", entrant ? "Opens all of its episodes." : "tasks")]
    const found = [element("b", "", row.task)]
    if (row.about) found.push(element("p", "", row.about))
    if (this.column < 0) return [...found, element("p", "note", "Opens the task.")]
    const cell = row.cells[this.column]
    found.push(element("p", "entrant", entrant))
    if (!cell) return [...found, element("p", "note", "Not played.")]
    found.push(element("p", "", `${this.data.marks[cell.state][0]} ${cell.told}`))
    const story = part("grid", `story:${cell.episode}`)
    found.push(element("p", "story", story ?? "…"), element("p", "note", `Opens episode ${cell.episode}.`))
    return found
  }
}
