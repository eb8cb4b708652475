// A component that shows nothing: it passes a part on to the one that does.
import { store } from "./parts.js"

export default ({ data }) => store(data)
