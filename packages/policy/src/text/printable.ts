/** Makes text of strangers safe to print. Everything that others may have written goes through here. */

/** C0 and C1 (escape sequences begin with some of these), line separators, and marks that reorder text. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line. What could control a terminal is shown as an escape of JSON, so a text in JSON keeps its value. */
export function printable(text: string): string {
  return text.replace(CONTROLS, escapeOf)
}

/** Several lines: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(CONTROLS, (mark) => (mark === '\n' || mark === '\t' ? mark : escapeOf(mark)))
}

function escapeOf(mark: string): string {
  return NAMED[mark] ?? `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const MARKUP = /[&<>"'`|\\[\]]/g

/** The text in a cell of a Markdown table. Characters that could end the cell or begin markup are entities. */
export function markdownCell(text: string): string {
  return printable(text).replace(MARKUP, (mark) => `&#${mark.charCodeAt(0)};`)
}
