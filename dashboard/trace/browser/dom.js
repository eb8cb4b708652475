// What agents wrote goes into the page by this function alone, as text.
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

// Markdown, as Python took it apart: a text, or the name of an element and what is in it. No other elements are made.
const PROSE = new Set("p em strong code pre ul ol li h1 h2 h3 h4 h5 h6 blockquote hr br".split(" "))

function grown(branch) {
  if (typeof branch === "string") return document.createTextNode(branch)
  const [name, ...inside] = branch
  // Headings of a text are none of the page's.
  const made = element(!PROSE.has(name) ? "span" : /^h\d$/.test(name) ? "p" : name, /^h\d$/.test(name) ? "heading" : "")
  made.append(...inside.map(grown))
  return made
}

function decode(data) {
  return JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data))
}

// Of tools, by their places in `trace/steps.py`, and of files. Paul Tol's "muted" hues: none of them is an entrant's or
// a verdict's.
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
