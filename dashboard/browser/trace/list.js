// The list of steps. Only the rows in view are drawn. The reader can hide the steps of a tool. Repeated actions share
// one row until the reader opens it, or selects a step in it.
import { button, element } from "../lib/dom.js"
import { styleOf } from "../lib/theme.js"
import { inView } from "../lib/windowed.js"

const ROW = 46
const COLUMN = 10

export class List {
  constructor(root, view) {
    this.root = root
    this.view = view
    this.kinds = root.querySelector(".kinds")
    this.box = root.querySelector(".box")
    this.space = root.querySelector(".space")
    this.hidden = new Set()
    this.opened = new Set()
    this.folding = true
    this.visible = []
    this.box.onscroll = () => requestAnimationFrame(() => this.draw())
    this.observer = new ResizeObserver(() => this.reveal())
    this.observer.observe(this.box)
  }

  close() {
    this.observer.disconnect()
  }

  update() {
    this.palette = styleOf(this.root).palette
    this.drawKinds()
    this.filter()
  }

  colorOf(tool) {
    return this.palette[this.view.data.tools[tool]]
  }

  drawKinds() {
    const counts = new Map()
    for (const row of this.view.data.rows) counts.set(row.tool, (counts.get(row.tool) ?? 0) + 1)
    this.kinds.replaceChildren(
      ...[...counts.keys()].map(tool => {
        const made = button("toggle", undefined, () => {
          this.hidden.has(tool) ? this.hidden.delete(tool) : this.hidden.add(tool)
          made.setAttribute("aria-pressed", String(!this.hidden.has(tool)))
          this.filter()
          this.reveal()
        })
        const square = element("span", "square")
        square.style.background = this.colorOf(tool)
        made.append(square, element("span", "", tool), element("span", "count", String(counts.get(tool))))
        made.setAttribute("aria-pressed", String(!this.hidden.has(tool)))
        made.title = "Show or hide these steps"
        return made
      }),
    )
  }

  fold(folding) {
    this.folding = folding
    this.opened.clear()
    this.filter()
    this.reveal()
  }

  filter() {
    const folded = new Map()
    for (const [first, last, period] of this.folding ? this.view.data.repeats : []) {
      if (this.opened.has(first)) continue
      for (let step = first + period; step <= last; step++) folded.set(step, null)
      folded.set(first, { first, last, times: (last - first + 1) / period, period })
    }
    this.columns = Math.max(0, ...this.view.data.rows.map(row => (row.tree ? row.tree.column + 1 : 0)))
    this.visible = this.view.data.rows.filter(row => !this.hidden.has(row.tool) && folded.get(row.step) !== null)
    this.folded = folded
    this.space.style.height = `${this.visible.length * ROW}px`
    this.root.querySelector(".none").hidden = this.visible.length > 0
  }

  // Make the selected step visible: open the fold, or show the tool's steps, that hide it.
  uncover(step) {
    const row = this.view.data.rows.find(each => each.step === step)
    const around = this.view.data.repeats.find(([first, last, period]) => first + period <= step && step <= last)
    const inside = this.folding && around && !this.opened.has(around[0])
    if (!row || (!this.hidden.has(row.tool) && !inside)) return
    this.hidden.delete(row.tool)
    if (inside) this.opened.add(around[0])
    this.drawKinds()
    this.filter()
  }

  // The position of the selected step among the visible ones. If it is hidden, that of the next visible step.
  position() {
    const at = this.visible.findIndex(row => row.step >= this.view.step)
    return at < 0 ? this.visible.length - 1 : at
  }

  reveal() {
    if (!this.visible) return
    const top = this.position() * ROW
    const { scrollTop, clientHeight } = this.box
    if (top < scrollTop + ROW || top + 2 * ROW > scrollTop + clientHeight) {
      const wanted = top < scrollTop || top > scrollTop + 2 * clientHeight ? top - clientHeight / 2 + ROW
        : top < scrollTop + ROW ? top - ROW : top + 2 * ROW - clientHeight
      this.box.scrollTop = Math.ceil(wanted / ROW) * ROW // whole rows
    }
    this.draw()
  }

  draw() {
    if (!this.view.data) return
    const [first, end] = inView(this.box.scrollTop, this.box.clientHeight, ROW, this.visible.length)
    const hits = (this.view.find && this.view.part(`find:${this.view.find}`)) || []
    this.hits = new Map(hits.map(hit => [hit.step, hit.excerpt]))
    const rows = []
    for (let at = first; at < end; at++) rows.push(this.row(this.visible[at], at))
    this.space.replaceChildren(...rows)
    const chosen = this.space.querySelector('[aria-selected="true"]')
    chosen ? this.box.setAttribute("aria-activedescendant", chosen.id) : this.box.removeAttribute("aria-activedescendant")
  }

  row(row, at) {
    const made = element("div", "row")
    made.id = `step-${row.step}`
    made.setAttribute("role", "option")
    made.setAttribute("aria-selected", String(row.step === this.view.step))
    made.setAttribute("aria-posinset", at + 1)
    made.setAttribute("aria-setsize", this.visible.length)
    made.dataset.step = row.step
    made.style.top = `${at * ROW}px`
    made.style.borderLeftColor = this.colorOf(row.tool)
    if (row.step === this.view.data.failure) made.classList.add("failure")
    if (row.inside) made.classList.add("inside")
    if (row.tree) this.branch(made, row.tree)
    const top = element("div", "top")
    top.append(element("span", "number", String(row.step)), element("span", "tool", row.tool))
    const fold = this.folded.get(row.step)
    if (fold) {
      const what = fold.period > 1 ? `these ${fold.period} steps ${fold.times} times` : `${fold.times} times`
      const chip = element("span", "chip fold", `${what}, to ${fold.last}`)
      chip.title = "Show them all"
      chip.onclick = event => {
        event.stopPropagation()
        this.open(row.step)
      }
      top.append(chip)
    }
    if (row.tree?.origin != null) {
      const chip = element("span", "chip fold", `from step ${row.parent}`)
      chip.title = "Go to the step that this line branches from"
      chip.onclick = event => {
        event.stopPropagation()
        this.view.change({ step: row.parent }, true)
      }
      top.append(chip)
    }
    if (!row.ok) top.append(element("span", "chip orange", "tool error"))
    if (row.step === this.view.data.failure) top.append(element("span", "chip red", "failure point"))
    if (row.step === this.view.data.deciding) top.append(element("span", "chip green", "deciding edit"))
    for (const mark of row.marks) {
      const chip = element("span", "chip green mark", mark)
      chip.title = this.view.data.meanings[mark] ?? ""
      top.append(chip)
    }
    if (row.action) top.append(element("span", "action", row.action))
    const about = element("span", "about", [row.where, row.tests].filter(Boolean).join(" · "))
    about.title = row.where
    top.append(about)
    const hit = this.hits.get(row.step)
    made.append(top, element("div", hit === undefined ? "text" : "text hit", hit ?? row.text))
    made.onclick = () => {
      this.view.change({ step: row.step }, true)
      this.box.focus({ preventScroll: true })
    }
    return made
  }

  // The tree beside a row: its line with a dot, the lines that pass by, and where a line branches off.
  branch(made, { column, passing, origin, kept }) {
    made.style.paddingLeft = `${this.columns * COLUMN + 7}px`
    if (!kept) made.classList.add("left")
    const part = (name, at) => {
      const bar = element("span", `tree ${name}`)
      bar.style.left = `${at * COLUMN + 6}px`
      made.append(bar)
      return bar
    }
    for (const at of passing) part("bar", at)
    part(origin === null ? "bar" : "bar begins", column)
    if (origin !== null) {
      part("fork", Math.min(origin, column)).style.width = `${Math.abs(column - origin) * COLUMN}px`
      if (!passing.includes(origin)) part("bar ends", origin)
    }
    part("dot", column)
  }

  open(step) {
    if (!this.folded.get(step)) return
    this.opened.add(step)
    this.filter()
    this.draw()
  }
}
