/**
 * Case folding, character by character. The functions for whole texts do not work here. Lower case depends on
 * neighbours (a sigma at the end of a word differs), and upper case may be longer. Folded characters are cached by code
 * point, in pages. A body of 256 KB in any script is then folded in a few milliseconds.
 */

/** Code points of a page. */
const PAGE_BITS = 8
const PAGE_MASK = 2 ** PAGE_BITS - 1
/**
 * Code units that one call turns into text. Past it: a further call follows. More code units would not fit into the
 * arguments of one call.
 */
const UNITS_MAX = 4_096

/**
 * By code point >> PAGE_BITS. A positive item is the code point to which a character folds. A negative one is the index
 * of a text, for a character that folds to several. null: no character of the page has a case.
 */
const pages: (Int32Array | null | undefined)[] = []
const texts: string[] = []

/** Texts that differ only in case have the same folded form. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length && isAscii(lower) ? lower : foldAny(text)
}

function foldAny(text: string): string {
  let folded = ''
  let units: number[] = []
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xe000) {
      code = text.codePointAt(i) as number
      if (code > 0xffff) i++
    }
    const to = foldedCode(code)
    if (to < 0) {
      folded += String.fromCharCode(...units) + texts[-1 - to]
      units = []
    } else if (to > 0xffff) units.push(0xd800 + ((to - 0x10000) >> 10), 0xdc00 + (to & 0x3ff))
    else units.push(to)
    if (units.length < UNITS_MAX) continue
    folded += String.fromCharCode(...units)
    units = []
  }
  return folded + String.fromCharCode(...units)
}

function foldedCode(code: number): number {
  let page = pages[code >> PAGE_BITS]
  if (page === undefined) {
    page = readPage(code & ~PAGE_MASK)
    pages[code >> PAGE_BITS] = page
  }
  return page === null ? code : (page[code & PAGE_MASK] as number)
}

function readPage(from: number): Int32Array | null {
  const codes = Array.from({ length: PAGE_MASK + 1 }, (_, i) => from + i)
  const all = String.fromCodePoint(...codes)
  return all.toLowerCase() === all && all.toUpperCase() === all ? null : Int32Array.from(codes, fold)
}

function fold(code: number): number {
  const character = String.fromCodePoint(code)
  const upper = character.toUpperCase()
  const folded = upper.length === character.length ? upper.toLowerCase() : character.toLowerCase()
  const to = folded.codePointAt(0) as number
  return String.fromCodePoint(to) === folded ? to : -texts.push(folded)
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}
