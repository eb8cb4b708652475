// The panes. The window determines their height, the reader their width.
import { pageOf } from "../lib/component.js"

const STORED = "stackrank-panes"
const LEAST_HEIGHT = 460
const LEAST_NARROW = 720 // There the panes are one below the other.
const NARROW = 860 // As in debugger.css.
// The property, the axis, its least and greatest value in per cent, and which way it grows.
const EDGES = { left: ["--left", "x", 14, 45, 1], right: ["--right", "x", 14, 45, -1], low: ["--low", "y", 15, 80, -1] }

export class Frame {
  // `turned`: called when the window has become narrow or wide.
  constructor(root, turned) {
    this.turned = turned
    this.frame = root.querySelector(".whole")
    this.grid = root.querySelector(".grid")
    this.sizes = { left: 27, right: 25, low: 42, ...this.stored() }
    for (const edge of root.querySelectorAll(".edge")) this.edge(edge, edge.dataset.edge)
    this.fit = this.fit.bind(this)
    this.main = pageOf(root)
    this.observer = new ResizeObserver(this.fit)
    this.observer.observe(this.main)
    this.observer.observe(this.main.firstElementChild)
    this.fit()
  }

  close() {
    this.observer.disconnect()
  }

  stored() {
    try {
      return JSON.parse(localStorage.getItem(STORED)) ?? {}
    } catch {
      return {} // The browser stores nothing, or something else is stored under this name.
    }
  }

  // If there is room, the part of the page above the panes stays in view. Otherwise the panes fill the window, and the
  // reader scrolls to them.
  fit() {
    const above = this.frame.getBoundingClientRect().top - this.main.getBoundingClientRect().top + this.main.scrollTop
    const { clientHeight } = this.main
    const left = clientHeight - above - 8
    const narrow = this.frame.clientWidth <= NARROW
    if (this.narrow !== undefined && narrow !== this.narrow) requestAnimationFrame(this.turned)
    this.narrow = narrow
    this.frame.style.height = `${left >= (narrow ? LEAST_NARROW : LEAST_HEIGHT) ? left : Math.max(LEAST_HEIGHT, clientHeight - 16)}px`
  }

  edge(edge, name) {
    const [property, axis, least, most, sign] = EDGES[name]
    const set = size => {
      this.sizes[name] = Math.max(least, Math.min(most, Number(size) || this.sizes[name]))
      this.grid.style.setProperty(property, `${this.sizes[name]}%`)
      edge.setAttribute("aria-valuenow", String(Math.round(this.sizes[name])))
    }
    edge.setAttribute("aria-valuemin", String(least))
    edge.setAttribute("aria-valuemax", String(most))
    set(this.sizes[name])
    const keep = () => {
      try {
        localStorage.setItem(STORED, JSON.stringify(this.sizes))
      } catch {
        // Then the next visit has the old sizes.
      }
    }
    edge.onpointerdown = event => {
      edge.setPointerCapture(event.pointerId)
      const from = event[axis]
      const size = this.sizes[name]
      const whole = axis === "x" ? this.grid.clientWidth : this.grid.clientHeight
      edge.onpointermove = moved => set(size + (sign * 100 * (moved[axis] - from)) / whole)
    }
    edge.onpointerup = () => {
      edge.onpointermove = null
      keep()
    }
    edge.onkeydown = event => {
      const way = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[event.key]
      if (!way) return
      event.preventDefault()
      set(this.sizes[name] + sign * way)
      keep()
    }
  }
}
