/** Finds a text in what a message says, and shows one line of it. Strangers wrote it, so the line is printable. */
import { printable } from './printable.ts'

/** Characters of a line. Past it: the line ends with an ellipsis. */
export const LINE_CHARS_MAX = 120
/** Characters from which a line is made. There are more than a line has, because spaces and escapes become shorter. */
const READ_CHARS_MAX = 4 * LINE_CHARS_MAX
/** Characters that a line shows before what was found. */
const LEAD_CHARS = 30
/** How often JSON may be nested as text in JSON. Past it: the escapes of deeper texts are not decoded. */
const ESCAPE_LEVELS_MAX = 3
const ELLIPSIS = '…'

interface FoundText {
  /** The searched text, with as many escapes decoded as finding it took. */
  text: string
  at: number
}

/**
 * Makes a search for `wanted`, in which capital and small letters are equal. Bodies are often JSON, where a character
 * may be an escape, such as `\u00f6` for ö. A text is therefore also searched with its escapes decoded.
 */
export function textFinder(wanted: string): (text: string) => FoundText | undefined {
  const folded = wanted.toLowerCase()
  return (given) => {
    let text = given
    for (let level = 0; ; level++) {
      const at = text.toLowerCase().indexOf(folded)
      if (at >= 0) return { text, at }
      if (level === ESCAPE_LEVELS_MAX || !text.includes('\\')) return undefined
      text = decodeEscapes(text)
    }
  }
}

/** One line of a text, around the place `at`. */
export function contentLine(text: string, at = 0): string {
  const from = characterAt(text, Math.max(0, at - LEAD_CHARS))
  const piece = decodeEscapes(text.slice(from, from + READ_CHARS_MAX)).toWellFormed()
  const line = printable(piece.replace(/\s+/gu, ' ').trim())
  return beginningOf(from > 0 ? `${ELLIPSIS}${line}` : line)
}

/** The same place, or the one after it if that would be within a surrogate pair. */
function characterAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at
}

const characters = new Intl.Segmenter('en')

/** Cut before the first character, as people see it, that does not fit. */
function beginningOf(line: string): string {
  if (line.length <= LINE_CHARS_MAX) return line
  for (const { segment, index } of characters.segment(line)) {
    if (index + segment.length >= LINE_CHARS_MAX) return `${line.slice(0, index)}${ELLIPSIS}`
  }
  return line
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g
const NAMED = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** One level of the escapes of JSON. */
function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(ESCAPE, (_, code: string | undefined, name = '') =>
    code === undefined ? (NAMED.get(name) ?? name) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
