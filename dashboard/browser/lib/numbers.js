// Numbers as `wording.py` writes them.
export function count(number) {
  return number.toLocaleString("en")
}

export function countOf(number, noun, plural = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : plural}`
}
