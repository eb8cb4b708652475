// A row of tabs. Arrow keys move between those that are seen.
import { button } from "../lib/dom.js"

export class Tabs {
  // `choose` is given the name of the tab that the reader opens.
  constructor(root, names, choose) {
    this.root = root
    this.made = names.map(name => {
      const made = button("tab", name, () => choose(name))
      made.setAttribute("role", "tab")
      made.id = `tab-${name}`
      return made
    })
    const row = root.querySelector(".tabs")
    row.replaceChildren(...this.made)
    row.onkeydown = event => this.turn(event)
  }

  show(chosen) {
    for (const each of this.made) {
      const on = each.textContent === chosen
      each.setAttribute("aria-selected", String(on))
      each.tabIndex = on ? 0 : -1
    }
  }

  hide(name, hidden) {
    this.made.find(each => each.textContent === name).hidden = hidden
  }

  turn(event) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!way) return
    event.preventDefault()
    const seen = this.made.filter(each => each.offsetParent !== null)
    const at = seen.indexOf(this.root.activeElement)
    const next = seen[(at + way + seen.length) % seen.length]
    next.focus()
    next.click()
  }
}
