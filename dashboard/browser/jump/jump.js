// Ctrl+K or Cmd+K opens a field that leads everywhere with a few letters. Pages and numbers are found at once; the server
// finds runs, tasks, entrants and episodes.
import { mount } from "../lib/component.js"
import { element, link } from "../lib/dom.js"
import { part, whenFed } from "../lib/parts.js"
import { known, ways } from "./places.js"

const PAUSE_MS = 120
const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform)
let opened = 0

class Jump {
  constructor(root) {
    this.dialog = root.querySelector("dialog")
    this.field = root.querySelector("input")
    this.list = root.querySelector("[role=listbox]")
    this.note = root.querySelector("[role=status]")
    this.field.oninput = () => this.typed()
    this.field.onkeydown = event => this.key(event)
    root.querySelector("button").onclick = () => this.open()
    if (IS_MAC) root.querySelector("kbd").textContent = "⌘ K"
    this.ended = whenFed(() => this.dialog.open && this.draw())
    // Before Streamlit and the page hear of it.
    this.heard = event => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return
      event.preventDefault()
      event.stopImmediatePropagation()
      this.open()
    }
    window.addEventListener("keydown", this.heard, true)
  }

  close() {
    this.ended()
    clearTimeout(this.timer)
    window.removeEventListener("keydown", this.heard, true)
  }

  update(pages, send) {
    this.pages = pages
    this.send = send
  }

  open() {
    if (this.dialog.open) return this.dialog.close()
    opened += 1
    this.field.value = ""
    this.typed()
    this.dialog.showModal()
    this.field.focus()
  }

  get text() {
    return this.field.value.trim()
  }

  // What is found may change between two openings.
  get question() {
    return `${opened} ${this.text}`
  }

  typed() {
    clearTimeout(this.timer)
    this.entered = false
    this.chosen = ""
    this.draw()
    if (this.isAsking) this.timer = setTimeout(() => this.send("text", this.question), PAUSE_MS)
  }

  get isAsking() {
    return this.text !== "" && part("jump", this.question) === undefined
  }

  draw() {
    const { places = [], note = "" } = (this.text && part("jump", this.question)) || {}
    const first = known(this.text, this.pages)
    this.isSure = first.length > 0
    this.list.replaceChildren(...[...first, ...places, ...ways(this.text)].map(([name, about, address], place) => {
      const made = link("", undefined, address)
      made.append(element("span", "name", name), element("span", "about", about))
      Object.assign(made, { id: `place${place}`, tabIndex: -1, role: "option" })
      return made
    }))
    this.note.textContent = this.isAsking ? "Searching…" : note
    const at = [...this.list.children].findIndex(made => made.href === this.chosen)
    this.choose(Math.max(0, at))
    if (this.entered && !this.isAsking) this.follow()
  }

  choose(at) {
    const links = [...this.list.children]
    this.at = links.length ? (at + links.length) % links.length : 0
    links.forEach((made, place) => made.setAttribute("aria-selected", String(place === this.at)))
    this.field.setAttribute("aria-activedescendant", links[this.at]?.id ?? "")
    links[this.at]?.scrollIntoView({ block: "nearest" })
  }

  key(event) {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (way) {
      this.choose(this.at + way)
      this.chosen = this.list.children[this.at]?.href
    } else if (event.key === "Enter") {
      // Who types quickly means what the server is about to find.
      this.entered = this.isAsking && !this.isSure && !this.chosen
      if (!this.entered) this.follow()
    } else return
    event.preventDefault()
  }

  follow() {
    this.entered = false
    this.list.children[this.at]?.click()
  }
}

export default mount(root => new Jump(root))
