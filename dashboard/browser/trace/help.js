// The keys, and what they do.
import { element } from "../lib/dom.js"

const KEYS = [
  ["j", "k", "Next and previous step"],
  ["n", "p", "Next and previous step of the same tool"],
  ["f", "", "The failure point"],
  ["Home", "End", "The first and the last step, in the list"],
  ["]", "[", "Next and previous stop or edit at the line: the marked one, else where the program stands"],
  ["/", "", "Search the episode"],
  [".", ",", "Next and previous find"],
  ["1", "2", "Step and diff"],
  ["3", "4", "Tests and model"],
  ["+", "-", "Zoom the timeline in and out; a drag over it shows that part"],
  ["0", "", "The whole timeline"],
  ["x", "o", "Fold repeats or show them all; open the selected one"],
  ["?", "", "This help; Escape closes it"],
]

export function help(root) {
  const dialog = root.querySelector("dialog")
  const table = element("table")
  for (const [one, other, what] of KEYS) {
    const row = table.insertRow()
    const keys = row.insertCell()
    keys.append(...[one, other].filter(Boolean).map(key => element("kbd", "", key)))
    row.insertCell().textContent = what
  }
  const said = "In the source, the arrow keys move the marked line. Every state is a link: the address has the step and all that is open."
  dialog.querySelector(".keys").replaceChildren(table, element("p", "note", said))
  dialog.querySelector("button").onclick = () => dialog.close()
  return dialog
}
