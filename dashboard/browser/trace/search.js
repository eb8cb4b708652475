// The search in the texts of the episode, with buttons to the next and the previous hit.
import { countOf } from "../lib/numbers.js"

export class Search {
  constructor(root, view) {
    this.view = view
    this.input = root.querySelector(".find")
    this.said = root.querySelector(".finds")
    this.ways = [...root.querySelectorAll(".way")]
    this.input.onkeydown = event => {
      if (event.key === "Enter") this.look()
      if (event.key !== "Escape") return
      event.preventDefault() // By default, Escape would empty the field.
      this.input.blur()
    }
    this.input.onsearch = () => this.look()
    this.ways.forEach((way, at) => (way.onclick = () => this.go(at ? 1 : -1)))
  }

  look() {
    const wanted = this.input.value.trim() || null
    if (wanted === this.view.find) return this.go(1)
    this.view.change({ find: wanted }, true)
    this.going = wanted !== null
  }

  hits() {
    return this.view.find ? this.view.part(`find:${this.view.find}`) : []
  }

  show() {
    const hits = this.hits()
    if (this.shown !== this.view.find) {
      this.shown = this.view.find
      this.input.value = this.view.find ?? ""
    }
    this.said.textContent = !this.view.find ? "" : !hits ? "Looking…" : countOf(hits.length, "step")
    for (const way of this.ways) way.hidden = !hits?.length
    // After a new search, go to the first hit at or after the current step.
    if (hits && this.going) {
      this.going = false
      if (!hits.some(hit => hit.step === this.view.step)) this.go(1)
    }
  }

  go(way) {
    const steps = (this.hits() ?? []).map(hit => hit.step)
    const [first, last] = [steps[0], steps.at(-1)]
    const step = way > 0 ? (steps.find(each => each > this.view.step) ?? first) : (steps.filter(each => each < this.view.step).at(-1) ?? last)
    if (step !== undefined) this.view.change({ step }, true)
  }
}
