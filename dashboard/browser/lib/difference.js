// The lines that only one of two texts has, as indexes of either; the rest is a longest common subsequence.
const MOST_CELLS = 4e6

export function differing(a, b) {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let [endA, endB] = [a.length, b.length]
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) endA--, endB--
  const [only, others] = [new Set(), new Set()]
  let [at, to] = [start, start]
  // What would take too long to compare differs as a whole.
  const longest = (endA - start) * (endB - start) > MOST_CELLS ? null : common(a.slice(start, endA), b.slice(start, endB))
  while (at < endA || to < endB) {
    if (longest && at < endA && to < endB && a[at] === b[to]) at++, to++
    else if (to >= endB || (at < endA && (!longest || longest(at + 1 - start, to - start) >= longest(at - start, to + 1 - start)))) only.add(at++)
    else others.add(to++)
  }
  return [only, others]
}

// The length of the longest common subsequence of the ends of both from two places on.
function common(a, b) {
  const wide = b.length + 1
  const table = new Uint32Array((a.length + 1) * wide)
  for (let at = a.length - 1; at >= 0; at--) {
    for (let to = b.length - 1; to >= 0; to--) {
      const below = (at + 1) * wide + to
      table[at * wide + to] = a[at] === b[to] ? table[below + 1] + 1 : Math.max(table[below], table[at * wide + to + 1])
    }
  }
  return (at, to) => table[at * wide + to]
}
