// Long lists draw only what is in view: `[first, end]` of the items of a scrolled box, all of one size in pixels.
export function inView(scrolled, visible, size, total, margin = 8) {
  const first = Math.max(0, Math.floor(scrolled / size) - margin)
  return [first, Math.min(total, first + Math.ceil(visible / size) + 2 * margin)]
}
