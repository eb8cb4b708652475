// Names in little room, told apart by what is left of them.

// The beginning that all names share, up to the end of a word of theirs.
export function common(names) {
  const [first, ...others] = names
  if (!others.length) return ""
  let end = 0
  while (end < first.length && others.every(name => name[end] === first[end])) end++
  return /^.*[\s/]/.exec(first.slice(0, end))?.[0] ?? ""
}

// Names that begin alike differ at their ends, so the middle goes.
export function shortened(name, most) {
  if (name.length <= most) return name
  const end = Math.ceil((most - 1) * 0.6)
  return `${name.slice(0, most - 1 - end)}…${name.slice(-end)}`
}
