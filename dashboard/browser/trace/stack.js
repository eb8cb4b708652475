// Calls and local variables as the debugger last reported them, their changes, and one local's values over the steps.
import { button, element } from "../lib/dom.js"
import { placeOf } from "./places.js"

export class Stack {
  constructor(root, view) {
    this.view = view
    this.box = root.querySelector(".stack")
  }

  show(detail) {
    const { stack } = detail
    this.box.replaceChildren(...this.calls(stack), ...this.locals(stack), ...this.watched(), ...this.points(stack))
  }

  calls(stack) {
    const found = [element("h3", "", "Stack")]
    if (stack.at === null) return [...found, element("p", "note", "The debugger was not used yet.")]
    if (stack.at !== this.view.step) found.push(element("p", "note", `Last known stack, from step ${stack.at}.`))
    found.push(element("p", stack.where ? "where" : "note", stack.where || "The program was not paused: it had not started, or had ended."))
    const frames = element("ol", "frames")
    for (const frame of stack.frames) {
      const differs = this.view.other && !this.view.other.frames.has(placeOf(frame))
      const made = button(differs ? "frame differs" : "frame", undefined, () => this.view.change({ file: frame.file, line: frame.line }, true))
      made.append(element("b", "", `${differs ? "≠ " : ""}${frame.current ? "▶ " : ""}${frame.function}`), element("span", "", ` ${frame.file}:${frame.line ?? "?"}`))
      const item = element("li")
      item.append(made)
      frames.append(item)
    }
    if (stack.frames.length) found.push(frames)
    return found
  }

  locals(stack) {
    if (!stack.locals.length) return []
    const table = element("table", "locals")
    table.setAttribute("aria-label", "Local variables")
    for (const local of stack.locals) {
      const row = table.insertRow()
      const changed = "former" in local
      if (changed) row.className = "changed"
      const { other } = this.view
      const differs = other && other.locals.get(local.name) !== local.value
      if (differs) row.classList.add("differs")
      const open = this.view.local === local.name
      const made = button("name", local.shown, () => this.view.change({ local: open ? null : local.name }, true))
      made.setAttribute("aria-expanded", String(open))
      made.title = `${local.shown}: its values over the steps`
      const name = element("th")
      name.scope = "row"
      name.append(made)
      const value = element("td", "value", local.value)
      if (changed) value.append(element("span", "former", local.former === null ? "new" : `was ${local.former}`))
      if (differs) value.append(element("span", "former", `${other.name}: ${other.locals.get(local.name) ?? "not there"}`))
      row.append(name, value)
    }
    return [element("h3", "", "Local variables"), table]
  }

  watched() {
    const { local, step } = this.view
    if (!local) return []
    const told = this.view.part(`local:${local}`)
    const head = element("h3", "", `${told?.name ?? local} over the steps`)
    head.append(button("close", "×", () => this.view.change({ local: null }, true)))
    head.lastChild.setAttribute("aria-label", "Close the values over the steps")
    if (!told) return [head, element("p", "note", "Looking…")]
    const list = element("ol", "spans")
    for (const span of told.spans) {
      const steps = span.last > span.first ? `${span.first}–${span.last}` : String(span.first)
      const made = button("span", undefined, () => this.view.change({ step: span.first }, true))
      made.append(element("b", "", steps), element("span", "in", span.function), element("code", "", span.value))
      if (span.first <= step && step <= span.last) made.setAttribute("aria-current", "step")
      const item = element("li")
      item.append(made)
      list.append(item)
    }
    const more = told.total - told.spans.length
    const empty = told.total ? "" : "No step told it."
    return [head, list, ...(more || empty ? [element("p", "note", empty || `and ${more} more`)] : [])]
  }

  points(stack) {
    if (!stack.breakpoints.length) return []
    const list = element("p", "points")
    for (const [file, line] of stack.breakpoints) {
      list.append(button("visit", `${file}:${line}`, () => this.view.change({ file, line }, true)))
    }
    return [element("h3", "", "Breakpoints"), list]
  }
}
