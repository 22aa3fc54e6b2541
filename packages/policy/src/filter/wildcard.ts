/** Wildcard patterns (sns-semantics §3.4): `*` is any run of characters, also none; `\*` and `\\` stand for themselves. */
import { FilterPolicyError } from './filter-error.ts'

export interface Wildcard {
  /** The literal pieces between the stars: one more than there are stars. */
  pieces: string[]
}

const STARS_MAX = 3

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
  if (pieces.length - 1 > STARS_MAX) throw new FilterPolicyError('Filter policy is too complex')
  return { pieces }
}

/** Stars of a pattern count as points: one is 1, two or three are 3 (§3.5). */
export function wildcardPoints({ pieces }: Wildcard): number {
  return pieces.length <= 2 ? pieces.length - 1 : 3
}

/** Linear in the text for each piece: the leftmost place of a piece leaves the most room for those after it. */
export function matchesWildcard({ pieces }: Wildcard, text: string): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false
  let at = first.length
  const end = text.length - last.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return at <= end
}
