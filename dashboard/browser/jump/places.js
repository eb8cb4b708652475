// What a text may mean before the server is asked: pages, things by their numbers, and ways to search.
const BY_NUMBER = /^(run|task|episode)?\s*#?(\d{1,9})(?:\s+(?:step\s+)?(\d{1,9}))?$/i
const QUERY = /^-|[:<>]/

export function isQuery(text) {
  return QUERY.test(text)
}

// Pages and numbered things, the likeliest first. Each place: name, about, address.
export function known(text, pages) {
  const found = pages.filter(([title]) => title.toLowerCase().includes(text.toLowerCase())).map(([title, address]) => [title, "page", address])
  const [, kind, id, step] = BY_NUMBER.exec(text) ?? []
  for (const each of id ? (kind ? [kind.toLowerCase()] : ["task", "run", "episode"]) : []) {
    const at = each === "episode" ? step : undefined
    found.unshift([`${each} ${id}${at ? ` step ${at}` : ""}`, "by its number", `${each}?id=${id}${at ? `&step=${at}` : ""}`])
  }
  return isQuery(text) ? [[`Episodes: ${text}`, "query", `episodes?ep_query=${encodeURIComponent(text)}`], ...found] : found
}

// Pages that search for the text, in case that none of the things found is meant.
export function ways(text) {
  if (!text || isQuery(text) || BY_NUMBER.test(text)) return []
  const quoted = `"${text.replaceAll('"', "")}"`
  return [
    ["Tasks that contain", "tasks?tk_text=", text],
    ["Runs whose name contains", "runs?runs_name=", text],
    ["Episodes of the entrant", "episodes?ep_query=", `entrant:${quoted}`],
    ["Episodes whose traces contain", "episodes?ep_query=", `text:${quoted}`],
  ].map(([label, address, value]) => [`${label} ${text}`, "search", address + encodeURIComponent(value)])
}
