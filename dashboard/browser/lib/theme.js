// Colours of tools, in the order of `trace/steps.py`, and of files. They are Paul Tol's "muted" hues, which no entrant
// and no verdict has.
export const HUES = {
  light: ["#777777", "#88CCEE", "#332288", "#AA4499", "#999933", "#44AA99", "#DDCC77", "#CC6677", "#117733", "#882255"],
  dark: ["#A0A0A0", "#88CCEE", "#8C7FE0", "#D583C8", "#C3C35E", "#5CC7B5", "#DDCC77", "#E08C9A", "#4CB36F", "#C4628F"],
}

// `named` reads a colour of the theme by its CSS name.
export function styleOf(root) {
  const style = getComputedStyle(root.host ?? root)
  const named = name => style.getPropertyValue(name).trim()
  const [red, green, blue] = (named("--st-background-color").match(/[0-9a-f]{2}/gi) ?? ["ff", "ff", "ff"]).map(part => parseInt(part, 16))
  return { named, palette: red + green + blue < 384 ? HUES.dark : HUES.light }
}
