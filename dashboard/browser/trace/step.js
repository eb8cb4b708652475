// One step: thought, action and observation; in other tabs the changes so far, the tests, and the requests to models.
import { button, element } from "../lib/dom.js"
import { count, countOf } from "../lib/numbers.js"
import { grown } from "./prose.js"

export const PANES = ["Step", "Diff", "Tests", "Model"]
const MOST = 1000000

export class Step {
  constructor(root, view) {
    this.view = view
    this.head = root.querySelector(".head")
    this.body = root.querySelector(".body")
  }

  show(detail, pane) {
    const said = [element("h2", "", `Step ${detail.step}: ${detail.tool}`)]
    for (const [text, color] of detail.badges) said.push(element("span", `chip ${color}`, text))
    said.push(element("span", "spent", detail.spent))
    this.head.replaceChildren(...said)
    const key = `${detail.step} ${pane}`
    const kept = this.key === key ? this.body.scrollTop : 0
    this.key = key
    this.body.replaceChildren(...this[pane.toLowerCase()](detail))
    this.body.scrollTop = kept
  }

  coming(step) {
    this.key = null
    const { last } = this.view.data
    const gone = step > last
    this.head.replaceChildren(...(gone ? [] : [element("h2", "", `Step ${step}`)]))
    this.body.replaceChildren(element("p", "note", gone ? `This episode has no step ${step}; its last one is ${last}.` : "Looking…"))
  }

  // A text. If it is truncated, with a button that loads the rest.
  text(said, { diff = false } = {}) {
    const whole = said.load ? this.view.part(`${said.load}:${this.view.step}`) : undefined
    const shown = whole ?? said.text
    const made = element("pre", "text")
    made.tabIndex = 0
    if (diff) made.append(...shown.split("\n").map(line => element("span", /^\+(?!\+\+ )/.test(line) ? "added" : /^-(?!-- )/.test(line) ? "removed" : /^@@/.test(line) ? "hunk" : "", `${line}\n`)))
    else made.textContent = shown
    const left = said.total - (whole === undefined ? said.text.length : Math.min(said.total, MOST))
    if (left > 0) made.append(`\n[${countOf(left, "more character")}]`)
    if (!said.load || whole !== undefined) return [made]
    const all = countOf(said.total, "character")
    const label = said.total <= MOST ? `Load all ${all}` : `Load ${count(MOST)} of ${all}`
    return [button("load", label, () => this.view.want(said.load)), made]
  }

  step(detail) {
    const found = []
    if (detail.thought_text.total) {
      found.push(element("h3", "", "Thought"))
      if (detail.thought) {
        const prose = element("div", "prose")
        prose.append(...detail.thought.map(grown))
        found.push(prose)
      } else found.push(...this.text(detail.thought_text))
    }
    for (const { name, text, diff } of detail.action) {
      found.push(element("h3", "", name ? `Action: ${name}` : "Action"), ...this.text(text, { diff }))
    }
    found.push(element("h3", "", "Observation"), ...this.text(detail.observation))
    if (detail.investigation) found.push(...this.investigation(detail.investigation))
    if (detail.changed) found.push(element("h3", "", "What it changed"), ...this.text(detail.changed, { diff: true }))
    return found
  }

  investigation({ answer, about, steps }) {
    const found = [element("h3", "", "Answer")]
    found.push(...(answer ? this.text(answer) : [element("p", "note", "The episode ended before there was one.")]))
    const list = element("ol", "spans")
    for (const [step, text] of steps) {
      const item = element("li")
      item.append(button("span", `Step ${step}: ${text}`, () => this.view.change({ step }, true)))
      list.append(item)
    }
    return [...found, element("h3", "", `Transcript: ${about}`), list]
  }

  asked(name) {
    return this.view.part(`${name}:${this.view.step}`)
  }

  diff(detail) {
    const told = this.asked("Diff")
    if (!told) return [element("p", "note", "Looking…")]
    const found = [element("h3", "", `So far, up to step ${detail.step}`)]
    found.push(...(told.so_far.total ? this.text(told.so_far, { diff: true }) : [element("p", "note", "Nothing is changed yet.")]))
    found.push(...told.doubts.map(doubt => element("p", "note", doubt)), element("h3", "", "In the end"))
    if (!told.final) return [...found, element("p", "note", "Not there yet.")]
    return [...found, ...(told.final.total ? this.text(told.final, { diff: true }) : [element("p", "note", "The agent changed nothing that it may change.")])]
  }

  tests(detail) {
    const told = this.asked("Tests")
    if (!told) return [element("p", "note", "Looking…")]
    if (told.at === null) return [element("p", "note", "The tests were not run yet.")]
    const table = element("table", "tests")
    const head = table.createTHead().insertRow()
    for (const name of ["Outcome", "Test", "Before"]) {
      const made = element("th", "", name)
      made.scope = "col"
      head.append(made)
    }
    const body = table.createTBody()
    for (const row of told.rows) {
      const made = body.insertRow()
      made.className = row[0] === "passed" ? "" : "failing"
      for (const text of row) made.insertCell().textContent = text
    }
    const when = told.at === detail.step ? "at this step" : `at step ${told.at}`
    return [element("h3", "", `${told.counts}, ${when}`), ...(told.rows.length ? [table] : [])]
  }

  model(detail) {
    const told = this.asked("Model")
    if (!told) return [element("p", "note", "Looking…")]
    if (!told.length) return [element("p", "note", "No model was asked for this step, or the questions were not kept.")]
    return told.flatMap(each => this.question(each))
  }

  question(each) {
    const found = [element("h3", "", each.about)]
    if (each.left_out) found.push(element("p", "cut", each.left_out))
    if (each.earlier_total) {
      const label = each.earlier_total === 1 ? "The message before" : `The ${each.earlier_total} messages before`
      const few = each.earlier.length < each.earlier_total ? `; the last ${each.earlier.length}` : ""
      found.push(this.folded(label + few, () => each.earlier.map(one => this.message(one))))
    }
    found.push(...each.new.map(one => this.message(one)))
    if (each.reasoning) found.push(this.message({ role: "reasoning", text: each.reasoning }))
    return [...found, this.folded("The answer as it was sent", () => this.text(each.answer)), this.folded("The request as it was sent", () => this.text(each.request))]
  }

  message({ role, text, calls }) {
    const made = element("div", `message ${["user", "assistant", "system", "tool", "reasoning"].includes(role) ? role : ""}`)
    made.append(element("b", "", role), ...(text.total ? this.text(text) : []), ...(calls ? this.text(calls) : []))
    return made
  }

  // The content is built when the reader opens it.
  folded(label, inside) {
    const made = element("details")
    made.append(element("summary", "", label))
    made.ontoggle = () => {
      if (made.open && made.childElementCount === 1) made.append(...inside())
    }
    return made
  }
}
