// The list of steps: only the rows in sight are in the page.
const ROW = 46
const MARGIN = 6

class List {
  constructor(root) {
    this.root = root
    this.tools = root.querySelector(".tools")
    this.box = root.querySelector(".box")
    this.space = root.querySelector(".space")
    this.hidden = new Set()
    this.visible = []
    this.selection = new Selection(reveal => (reveal ? this.reveal() : this.draw()))
    this.box.onscroll = () => requestAnimationFrame(() => this.draw())
    this.onKey = event => this.key(event)
    document.addEventListener("keydown", this.onKey)
  }

  close() {
    this.selection.close()
    document.removeEventListener("keydown", this.onKey)
  }

  update(data) {
    const linked = !this.data && addressStep() !== null
    this.data = data
    this.selection.update(data.start, this.selection.send)
    this.palette = styleOf(this.root).palette
    this.drawTools()
    this.filter()
    this.reveal()
    // Who comes by a link to a step is to see it. Only the row: the header above stays where there is room for both.
    if (linked) requestAnimationFrame(() => this.selectedRow()?.scrollIntoView({ block: "nearest" }))
  }

  selectedRow() {
    return this.space.querySelector('[aria-selected="true"]')
  }

  colorOf(tool) {
    return this.palette[this.data.tools[tool]]
  }

  drawTools() {
    const counts = new Map()
    for (const row of this.data.rows) counts.set(row.tool, (counts.get(row.tool) ?? 0) + 1)
    this.tools.replaceChildren(
      ...[...counts.keys()].map(tool => {
        const button = element("button", "toggle")
        const square = element("span", "square")
        square.style.background = this.colorOf(tool)
        button.append(square, element("span", "", tool), element("span", "count", String(counts.get(tool))))
        button.setAttribute("aria-pressed", String(!this.hidden.has(tool)))
        button.title = "Show or hide these steps"
        button.onclick = () => {
          this.hidden.has(tool) ? this.hidden.delete(tool) : this.hidden.add(tool)
          button.setAttribute("aria-pressed", String(!this.hidden.has(tool)))
          this.filter()
          this.reveal()
        }
        return button
      }),
    )
  }

  filter() {
    this.visible = this.data.rows.filter(row => !this.hidden.has(row.tool))
    this.space.style.height = `${this.visible.length * ROW}px`
    this.root.querySelector(".none").hidden = this.visible.length > 0
  }

  // The place of the selected step among the visible ones, or of the first one after it.
  position() {
    const at = this.visible.findIndex(row => row.step >= this.selection.current)
    return at < 0 ? this.visible.length - 1 : at
  }

  reveal() {
    const top = this.position() * ROW
    const { scrollTop, clientHeight } = this.box
    if (top < scrollTop + ROW || top + 2 * ROW > scrollTop + clientHeight) {
      this.box.scrollTop = top < scrollTop || top > scrollTop + 2 * clientHeight ? top - clientHeight / 2 + ROW
        : top < scrollTop + ROW ? top - ROW : top + 2 * ROW - clientHeight
    }
    this.draw()
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - MARGIN)
    const last = Math.min(this.visible.length, first + Math.ceil(this.box.clientHeight / ROW) + 2 * MARGIN)
    const rows = []
    for (let at = first; at < last; at++) rows.push(this.row(this.visible[at], at))
    this.space.replaceChildren(...rows)
  }

  row(row, at) {
    const made = element("div", "row")
    made.setAttribute("role", "option")
    made.setAttribute("aria-selected", String(row.step === this.selection.current))
    made.setAttribute("aria-posinset", at + 1)
    made.setAttribute("aria-setsize", this.visible.length)
    made.dataset.step = row.step
    made.style.top = `${at * ROW}px`
    made.style.borderLeftColor = this.colorOf(row.tool)
    if (row.step === this.data.failure) made.classList.add("failure")
    if (row.inside) made.classList.add("inside")
    const top = element("div", "top")
    top.append(element("span", "number", String(row.step)), element("span", "tool", row.tool))
    if (!row.ok) top.append(element("span", "chip error", "tool error"))
    if (row.step === this.data.failure) top.append(element("span", "chip failed", "failure point"))
    for (const mark of row.marks) top.append(element("span", "chip mark", mark))
    const about = element("span", "about", [row.where, row.tests].filter(Boolean).join(" · "))
    about.title = row.where
    top.append(about)
    made.append(top, element("div", "text", row.text))
    made.onclick = () => {
      this.selection.choose(row.step, true)
      this.box.focus({ preventScroll: true })
    }
    return made
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    const target = event.composedPath()[0]
    if (target instanceof HTMLElement && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")) return
    const at = this.position()
    const here = this.visible[at]
    const inList = this.root.activeElement === this.box
    const same = row => row.tool === here?.tool && row.step !== this.selection.current
    const found = {
      j: () => this.visible[at + (here?.step === this.selection.current ? 1 : 0)],
      k: () => this.visible[at - 1],
      n: () => this.visible.slice(at).find(same),
      p: () => this.visible.slice(0, at).reverse().find(same),
      f: () => this.data.rows.find(row => row.step === this.data.failure),
      ...(inList && { ArrowDown: () => found.j(), ArrowUp: () => found.k() }),
    }
    if (!Object.hasOwn(found, event.key)) return
    event.preventDefault()
    const row = found[event.key]()
    if (!row) return
    if (this.hidden.delete(row.tool)) {
      this.drawTools()
      this.filter()
    }
    this.selection.choose(row.step, "npf".includes(event.key))
    this.reveal()
    this.box.scrollIntoView({ block: "nearest" })
  }
}

export default component => mount(component, List)
