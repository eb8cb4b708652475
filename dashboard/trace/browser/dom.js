// Only this function inserts the texts of agents into the page, and only as text.
function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

function button(className, text, onclick) {
  const made = element("button", className, text)
  made.type = "button"
  made.onclick = onclick
  return made
}

// Build Markdown from what Python has parsed: each part is a text, or the name of an element and its content. No other
// elements are made.
const PROSE = new Set("p em strong code pre ul ol li h1 h2 h3 h4 h5 h6 blockquote hr br".split(" "))

function grown(branch) {
  if (typeof branch === "string") return document.createTextNode(branch)
  const [name, ...inside] = branch
  // A heading of a text must not count as a heading of the page.
  const made = element(!PROSE.has(name) ? "span" : /^h\d$/.test(name) ? "p" : name, /^h\d$/.test(name) ? "heading" : "")
  made.append(...inside.map(grown))
  return made
}

function decode(data) {
  return JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data))
}

// Colours of tools, in the order of `trace/steps.py`, and of files. They are Paul Tol's "muted" hues, which no entrant
// and no verdict has.
const HUES = {
  light: ["#777777", "#88CCEE", "#332288", "#AA4499", "#999933", "#44AA99", "#DDCC77", "#CC6677", "#117733", "#882255"],
  dark: ["#A0A0A0", "#88CCEE", "#8C7FE0", "#D583C8", "#C3C35E", "#5CC7B5", "#DDCC77", "#E08C9A", "#4CB36F", "#C4628F"],
}

function styleOf(root) {
  const style = getComputedStyle(root.host ?? root)
  const named = name => style.getPropertyValue(name).trim()
  const [red, green, blue] = (named("--st-background-color").match(/[0-9a-f]{2}/gi) ?? ["ff", "ff", "ff"]).map(part => parseInt(part, 16))
  return { named, palette: red + green + blue < 384 ? HUES.dark : HUES.light }
}
