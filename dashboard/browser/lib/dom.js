// Makes elements. Only these functions insert the texts of agents and users into the page, and only as text.
export function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

export function button(className, text, onclick) {
  const made = element("button", className, text)
  made.type = "button"
  made.onclick = onclick
  return made
}

// Python has made the address; none of its texts may start another scheme.
export function link(className, text, href) {
  const made = element("a", className, text)
  made.href = new URL(href, new URL("./", document.baseURI))
  return made
}
