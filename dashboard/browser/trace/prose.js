import { element } from "../lib/dom.js"

// Build Markdown from what Python has parsed: each part is a text, or the name of an element and its content. No other
// elements are made.
const PROSE = new Set("p em strong code pre ul ol li h1 h2 h3 h4 h5 h6 blockquote hr br".split(" "))

export function grown(branch) {
  if (typeof branch === "string") return document.createTextNode(branch)
  const [name, ...inside] = branch
  // A heading of a text must not count as a heading of the page.
  const made = element(!PROSE.has(name) ? "span" : /^h\d$/.test(name) ? "p" : name, /^h\d$/.test(name) ? "heading" : "")
  made.append(...inside.map(grown))
  return made
}
