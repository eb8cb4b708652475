// Tasks by entrants: a sign in each cell, which opens a trace. Only what is in view is drawn. The arrow keys move a mark
// that the box tells to screen readers, so it does not matter that cells come and go.
import { mount, pageOf } from "../lib/component.js"
import { element, link } from "../lib/dom.js"
import { hasModifier } from "../lib/keys.js"
import { countOf } from "../lib/numbers.js"
import { inView } from "../lib/windowed.js"
import { common, shortened } from "./names.js"
import { Preview } from "./preview.js"

const CELL = 30 // The height of a cell, and its least width.
const FACTS_WIDTH = 190 // Room for the numbers of a task,
const RATE_WIDTH = 80
const NOTES_WIDTH = 200 // and for its notes, if any has some.
const LETTER = 7.2
// As wide as this, a cell also has its count. Wider cells would only be further apart.
const COUNTED = 84
const WIDEST = 190
const LEAST_HEIGHT = 360
const NARROW = 640
const BAR = 60 // The height of the page's bar, beneath which a grid can be scrolled.
const STATES = ["all", "some", "none", "error"]
const FACTS = ["rate", "spread", "notes"]

class Grid {
  constructor(root) {
    this.root = root
    this.box = root.querySelector(".box")
    this.heads = root.querySelector(".heads")
    this.outside = root.querySelector(".outside")
    this.space = root.querySelector(".space")
    this.preview = new Preview(root)
    this.drawn = new Map()
    this.row = 0
    this.column = 0
    this.box.onscroll = () => {
      this.preview.hide()
      cancelAnimationFrame(this.frame)
      this.frame = requestAnimationFrame(() => this.draw())
    }
    this.box.onkeydown = event => this.key(event)
    this.box.onfocus = () => this.box.matches(":focus-visible") && this.look()
    this.box.onblur = () => this.preview.hide()
    this.box.onpointerover = event => this.point(event.target.closest("[data-column]"), event.pointerType)
    this.box.onpointerleave = () => this.preview.hide(true)
    this.main = pageOf(root)
    this.observer = new ResizeObserver(() => this.fit())
    this.observer.observe(this.main)
    this.observer.observe(this.box)
  }

  close() {
    cancelAnimationFrame(this.frame)
    this.observer.disconnect()
    this.preview.close()
  }

  update(data, send) {
    this.preview.update(data, send)
    const same = this.data && JSON.stringify(this.data) === JSON.stringify(data)
    if (same) return
    this.data = data
    this.row = Math.min(this.row, data.rows.length - 1)
    this.column = Math.min(this.column, data.entrants.length - 1)
    this.root.querySelector(".legend").replaceChildren(...data.marks.map(([mark, words], state) => {
      const item = element("li")
      const sign = element("span", `sign ${STATES[state]}`, mark)
      sign.setAttribute("aria-hidden", "true")
      item.append(sign, words)
      return item
    }))
    this.box.setAttribute("aria-rowcount", data.rows.length + 1)
    this.facts = FACTS.filter(fact => fact !== "notes" || data.rows.some(row => row.notes))
    this.box.setAttribute("aria-colcount", data.entrants.length + 1 + this.facts.length)
    this.fit()
  }

  // The reader's window decides how much is seen at once; the box scrolls the rest.
  fit() {
    if (!this.data) return
    const { entrants, rows } = this.data
    const narrow = this.box.clientWidth < NARROW
    const longest = rows.reduce((most, row) => Math.max(most, row.task.length), 4)
    // A phone leaves to the names of tasks what a few entrants do not need.
    const most = narrow ? Math.max(118, this.box.clientWidth - RATE_WIDTH - CELL * entrants.length - 2) : 280
    this.names = Math.min(most, 7.4 * longest + 24)
    this.chars = { task: Math.floor((this.names - 20) / 7), entrant: narrow ? 24 : 30 }
    this.shared = common(entrants).length
    const nameLength = Math.max(...entrants.map(name => Math.min(this.chars.entrant, name.length - this.shared)), 8)
    const facts = narrow ? RATE_WIDTH : FACTS_WIDTH + (this.facts.includes("notes") ? NOTES_WIDTH : 0)
    const room = Math.floor((this.box.clientWidth - this.names - facts) / entrants.length)
    this.wide = narrow ? CELL : clamp(room, CELL, WIDEST)
    const fitting = Math.max(0, Math.floor((this.box.clientWidth - this.names) / this.wide))
    this.outside.hidden = fitting >= entrants.length
    this.outside.textContent = `${fitting} of ${countOf(entrants.length, "entrant")} fit here: scroll sideways for the others.`
    // Names are turned unless they have room above their cells.
    this.flat = LETTER * nameLength + 14 <= this.wide
    this.high = this.flat ? 38 : LETTER * nameLength + 16
    this.counted = this.wide >= COUNTED
    this.box.style.setProperty("--facts", `${facts}px`)
    this.box.style.setProperty("--names", `${this.names}px`)
    this.box.style.setProperty("--high", `${this.high}px`)
    this.box.style.setProperty("--cell", `${this.wide}px`)
    this.box.style.setProperty("--cells", `${entrants.length * this.wide}px`)
    this.box.classList.toggle("flat", this.flat)
    const above = this.box.getBoundingClientRect().top - this.main.getBoundingClientRect().top + this.main.scrollTop
    // A grid that a window can show as a whole is not scrolled within the page.
    const whole = this.high + rows.length * CELL + 4
    const least = whole <= this.main.clientHeight - BAR ? whole : LEAST_HEIGHT
    this.box.style.maxHeight = `${Math.max(least, this.main.clientHeight - above - 16)}px`
    this.space.style.height = `${rows.length * CELL}px`
    this.forget()
    this.draw()
  }

  draw() {
    const { rows, entrants } = this.data
    const [left, right] = inView(this.box.scrollLeft, this.box.clientWidth, this.wide, entrants.length, 4)
    const [first, end] = inView(this.box.scrollTop, this.box.clientHeight, CELL, rows.length)
    const columns = `${left} ${right}`
    if (columns !== this.columns) this.forget()
    if (!this.drawn.size) this.heads.replaceChildren(this.head(left, right))
    this.columns = columns
    for (const [at, line] of this.drawn) {
      if (at >= first && at < end) continue
      line.remove()
      this.drawn.delete(at)
    }
    // Rows that stay are not touched, or the browser would lay out all of them at every turn of the wheel.
    let next = this.space.firstElementChild
    for (let at = first; at < end; at++) {
      const line = this.drawn.get(at)
      if (line) next = line.nextElementSibling
      else {
        this.drawn.set(at, this.line(at, left, right))
        this.space.insertBefore(this.drawn.get(at), next)
      }
    }
    this.mark()
  }

  forget() {
    this.drawn.clear()
    this.space.replaceChildren()
  }

  head(left, right) {
    const made = element("div", "row head")
    made.setAttribute("role", "row")
    made.setAttribute("aria-rowindex", 1)
    made.append(this.cell("name", -1, -1, element("span", "", "Task"), "columnheader"))
    for (let at = left; at < right; at++) {
      const name = this.data.entrants[at]
      const turned = link("turned", shortened(name.slice(this.shared), this.chars.entrant), this.data.of_entrant + encodeURIComponent(`entrant:"${name.replaceAll('"', "*")}"`))
      turned.setAttribute("aria-label", name)
      made.append(this.cell("turn", -1, at, turned, "columnheader"))
    }
    const facts = element("div", "facts")
    facts.setAttribute("role", "presentation")
    for (const [place, fact] of this.facts.entries()) facts.append(this.fact(fact, place, this.data.facts[place], "columnheader"))
    made.append(facts)
    return made
  }

  line(at, left, right) {
    const row = this.data.rows[at]
    const made = element("div", "row")
    made.setAttribute("role", "row")
    made.setAttribute("aria-rowindex", at + 2)
    made.style.top = `${at * CELL}px`
    const name = link("", shortened(row.task, this.chars.task), this.data.of_task + row.id)
    name.setAttribute("aria-label", row.task)
    made.append(this.cell("name", at, -1, name, "rowheader"))
    for (let column = left; column < right; column++) made.append(this.result(row, at, column))
    const facts = element("div", "facts")
    facts.setAttribute("role", "presentation")
    for (const [place, fact] of this.facts.entries()) facts.append(this.fact(fact, place, row[fact], "gridcell"))
    made.append(facts)
    return made
  }

  result(row, at, column) {
    const cell = row.cells[column]
    if (!cell) {
      const none = element("span", "", "")
      none.setAttribute("aria-label", "not played")
      none.setAttribute("role", "img")
      return this.cell("result empty", at, column, none, "gridcell")
    }
    const sign = link("", this.data.marks[cell.state][0], this.data.of_episode + cell.episode)
    sign.style.setProperty("--share", `${100 * cell.share}%`)
    if (this.counted && cell.count) sign.append(element("span", "part", cell.count))
    sign.setAttribute("aria-label", `${row.task}, ${this.data.entrants[column]}: ${cell.told}`)
    return this.cell(`result ${STATES[cell.state]}`, at, column, sign, "gridcell")
  }

  cell(className, row, column, inside, role) {
    const made = element("div", `cell ${className}`)
    made.setAttribute("role", role)
    made.id = `cell${row}x${column}`
    made.setAttribute("aria-colindex", column + 2)
    made.dataset.row = row
    made.dataset.column = column
    if (column >= 0) made.style.left = `${this.names + column * this.wide}px`
    if (inside.href) inside.tabIndex = -1
    made.append(inside)
    return made
  }

  fact(name, place, text, role) {
    const made = element("span", `fact ${name}`, text)
    made.setAttribute("role", role)
    made.setAttribute("aria-colindex", this.data.entrants.length + 2 + place)
    made.title = text
    return made
  }

  // The mark of the keyboard.
  mark() {
    for (const old of this.box.querySelectorAll(".here")) old.classList.remove("here")
    const here = this.root.getElementById(`cell${this.row}x${this.column}`)
    here?.classList.add("here")
    here ? this.box.setAttribute("aria-activedescendant", here.id) : this.box.removeAttribute("aria-activedescendant")
    return here
  }

  key(event) {
    const { rows, entrants } = this.data
    const page = Math.max(1, Math.floor((this.box.clientHeight - this.high) / CELL) - 1)
    const end = event.ctrlKey || event.metaKey
    if (event.key === "Enter") {
      event.preventDefault()
      const href = this.mark()?.querySelector("a")?.href
      if (href) end ? window.open(href) : location.assign(href)
      return
    }
    if (event.key === "Escape") return this.preview.hide()
    const moves = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      PageUp: [-page, 0], PageDown: [page, 0],
      Home: end ? [-rows.length, -entrants.length] : [0, -entrants.length], End: end ? [rows.length, entrants.length] : [0, entrants.length],
    }
    const move = moves[event.key]
    if (!move || event.altKey || (hasModifier(event) && !["Home", "End"].includes(event.key))) return
    event.preventDefault()
    const least = event.key === "ArrowUp" ? -1 : 0 // The names of the entrants are reached by one step only.
    this.row = this.row < 0 && move[0] <= 0 ? -1 : clamp(this.row + move[0], least, rows.length - 1)
    this.column = clamp(this.column + move[1], -1, entrants.length - 1)
    this.reveal()
    this.look()
  }

  reveal() {
    const { box } = this
    const top = this.row * CELL
    const left = Math.max(0, this.column) * this.wide
    if (this.row >= 0) box.scrollTop = clamp(box.scrollTop, top + CELL + this.high - box.clientHeight, top)
    box.scrollLeft = clamp(box.scrollLeft, left + this.wide + this.names - box.clientWidth, left)
    this.draw()
  }

  look() {
    const here = this.mark()
    if (here) this.preview.show(here, this.row, this.column)
  }

  // A finger opens at once what it touches.
  point(cell, kind) {
    if (cell && kind !== "touch") this.preview.show(cell, Number(cell.dataset.row), Number(cell.dataset.column))
    else this.preview.hide(true)
  }
}

function clamp(number, least, most) {
  return Math.max(least, Math.min(most, number))
}

export default mount(root => new Grid(root))
