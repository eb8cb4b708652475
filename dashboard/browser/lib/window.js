// Tells Python whether the window is as narrow as a phone, whenever it believes otherwise.
import { mount } from "./component.js"

const NARROW = window.matchMedia("(max-width: 640px)")

class Window {
  constructor() {
    this.heard = () => this.tell()
    NARROW.addEventListener("change", this.heard)
  }

  update(believed, send) {
    this.believed = believed
    this.send = send
    this.tell()
  }

  tell() {
    const width = NARROW.matches ? "narrow" : "wide"
    if (width !== this.believed) this.send("width", width)
  }

  close() {
    NARROW.removeEventListener("change", this.heard)
  }
}

export default mount(() => new Window())
