// A call of a stack, to be found among the calls of another one.
export function placeOf(frame) {
  return `${frame.function} ${frame.file}:${frame.line}`
}
