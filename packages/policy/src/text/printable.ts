/** Makes text of strangers safe to print. Everything that others may have written goes through here. */

/**
 * C0 and C1 (escape sequences begin with some of these), line separators, and what nobody sees: marks that reorder
 * text, spaces without width, tags. With these, two names could look the same. Joiners and variants stay, because
 * scripts and emoji need them.
 */
const CONTROLS = /[\p{Cc}\u2028\u2029]|(?!\u200c|\u200d|[\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu
const NAMED = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** One line. What could control a terminal is shown as an escape of JSON, so a text in JSON keeps its value. */
export function printable(text: string): string {
  return text.replace(CONTROLS, escapeOf)
}

/** Several lines: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(CONTROLS, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)))
}

function escapeOf(char: string): string {
  const units = char.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return NAMED.get(char) ?? units.join('')
}

const MARKUP = /[&<>"'`|\\[\]]/g

/** The text in a cell of a Markdown table. Characters that could end the cell or begin markup are entities. */
export function markdownCell(text: string): string {
  return printable(text).replace(MARKUP, (char) => `&#${char.charCodeAt(0)};`)
}

const QUOTE = '(?:\\\\*["\']|&quot;|&#(?:34|39|x22|x27);)+'
/** `=` of the query, as JSON, HTML and URLs escape it, or the `:` of a member. */
const EQUALS = `=|%(?:25)*3d|\\\\+u003d|&#(?:61|x3d);|${QUOTE}\\s*:\\s*${QUOTE}`
/** A text may be cut within a token. A beginning of less than 16 characters leaves 160 bits to guess. */
const TOKEN = new RegExp(`(token(?:${EQUALS}))[\\w-]{16,}`, 'gi')

/**
 * Removes the tokens of links from what endpoints say. An endpoint may repeat its request, and a token proves that its
 * holder got a delivery or a confirmation. So nothing that others read may have it.
 */
export function withoutTokens(text: string): string {
  return text.replace(TOKEN, '$1***')
}
