// A file with the lines that the debugger stands at and stops at. Its text is the agent's: it goes in as text only.
function draw({ data, parentElement, setTriggerValue }) {
  const file = JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data))
  const box = parentElement.querySelector(".source")
  box.setAttribute("aria-label", `Source of ${file.path}`)
  const marks = [["current", file.current], ["breakpoint", file.breakpoints], ["touched", file.touched], ["fault", file.faults]]
  box.replaceChildren(
    ...file.lines.map((pieces, at) => {
      const number = file.first + at
      const line = document.createElement("div")
      line.className = "line"
      for (const [name, numbers] of marks) if (numbers.includes(number)) line.classList.add(name)
      const gutter = document.createElement("span")
      gutter.className = "gutter"
      gutter.textContent = `${line.classList.contains("breakpoint") ? "●" : " "}${line.classList.contains("current") ? "▶" : " "}`
      const count = document.createElement("span")
      count.className = "count"
      count.textContent = String(number)
      count.title = "Which steps stopped here or edited this line?"
      count.onclick = () => setTriggerValue("line", number)
      const code = document.createElement("code")
      for (const [kind, part] of pieces) {
        const piece = document.createElement("span")
        if (kind) piece.className = kind
        piece.textContent = part
        code.append(piece)
      }
      if (!pieces.length) code.textContent = " "
      line.append(gutter, count, code)
      return line
    }),
  )
  // What matters most, and not what comes first in the file.
  const target = [".current", ".touched", ".breakpoint"].map(kind => box.querySelector(kind)).find(Boolean)
  box.scrollTop = target ? Math.max(0, target.offsetTop - box.clientHeight / 2) : 0
}

export default component => draw(component)
