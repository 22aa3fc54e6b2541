/** Wildcard patterns (checklist 80). `*` is any text, also an empty one. `\*` and `\\` stand for `*` and `\`. */
import { FilterPolicyError, holdTo, type Limit, TOO_COMPLEX } from './filter-error.ts'

export interface Wildcard {
  /** The literal pieces between the stars. There is one more piece than stars. */
  pieces: string[]
}

const STARS: Limit = { what: 'wildcards in a pattern', max: 3, text: TOO_COMPLEX }

export function parseWildcard(text: string): Wildcard {
  const pieces = ['']
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    if (character === '*') {
      if (text.charAt(i + 1) === '*')
        throw new FilterPolicyError(`Consecutive wildcard characters at pos ${i}`)
      pieces.push('')
      continue
    }
    if (character === '\\') {
      const escaped = text.charAt(++i)
      if (escaped !== '*' && escaped !== '\\')
        throw new FilterPolicyError(`Invalid escape character at pos ${i - 1}`)
      pieces.push(pieces.pop() + escaped)
      continue
    }
    pieces.push(pieces.pop() + character)
  }
  holdTo(STARS, pieces.length - 1)
  return { pieces }
}

/**
 * Points for the stars of a pattern: 1 for one star, 3 for two or three.
 * https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html
 */
export function wildcardPoints({ pieces }: Wildcard): number {
  return pieces.length <= 2 ? pieces.length - 1 : 3
}

/**
 * Comparisons of a wildcard's piece by plain search. Past it: a search in linear time is used. This many comparisons
 * take a fraction of a millisecond with any text.
 */
const COMPARISONS_MAX = 65_536

/**
 * The position of the piece in the text, at `from` or later; -1: it is not there. The engine's own search may be
 * quadratic, so long inputs use a linear search.
 */
function placeOf(piece: string, text: string, from: number): number {
  if (piece.length < 2 || piece.length * (text.length - from) <= COMPARISONS_MAX)
    return text.indexOf(piece, from)
  return piece.length > text.length - from ? -1 : placeBy(bordersOf(piece), piece, text, from)
}

/**
 * The search of Knuth, Morris and Pratt. After a mismatch it continues with the longest part of the piece that can
 * still match.
 */
function placeBy(borders: Int32Array, piece: string, text: string, from: number): number {
  let matched = 0
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    while (matched > 0 && unit !== piece.charCodeAt(matched)) matched = borders[matched - 1] as number
    if (unit === piece.charCodeAt(matched)) matched++
    if (matched === piece.length) return i - matched + 1
  }
  return -1
}

/** For each position: the length of the longest prefix of the piece that also ends at this position. */
function bordersOf(piece: string): Int32Array {
  const borders = new Int32Array(piece.length)
  let length = 0
  for (let i = 1; i < piece.length; i++) {
    const unit = piece.charCodeAt(i)
    while (length > 0 && unit !== piece.charCodeAt(length)) length = borders[length - 1] as number
    if (unit === piece.charCodeAt(length)) length++
    borders[i] = length
  }
  return borders
}

/** Linear in the text for each piece. The leftmost match of a piece leaves the most text for the pieces after it. */
export function matchesWildcard({ pieces }: Wildcard, text: string): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false
  let at = first.length
  const end = text.length - last.length
  for (const piece of pieces.slice(1, -1)) {
    const found = placeOf(piece, text, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return at <= end
}
