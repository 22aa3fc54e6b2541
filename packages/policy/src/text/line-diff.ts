/** The lines of two texts. Lines that only one of them has have a sign. */
import diffModule from '@jest/diff-sequences'

type IsCommon = (a: number, b: number) => boolean
type FoundRun = (count: number, aStart: number, bStart: number) => void

/** Compilers differ about the package's default export, which is this function. */
const diffSequences = diffModule as unknown as (
  aLength: number,
  bLength: number,
  isCommon: IsCommon,
  foundRun: FoundRun,
) => void

interface DiffLine {
  /** `-`: only before. `+`: only after. */
  sign: ' ' | '-' | '+'
  text: string
}

/** An empty text has no lines. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, changed] = [linesOf(before), linesOf(after)]
  const lines: DiffLine[] = []
  let [oldAt, changedAt] = [0, 0]
  const upTo = (oldEnd: number, changedEnd: number) => {
    for (; oldAt < oldEnd; oldAt++) lines.push({ sign: '-', text: old[oldAt] ?? '' })
    for (; changedAt < changedEnd; changedAt++) lines.push({ sign: '+', text: changed[changedAt] ?? '' })
  }
  const isCommon = (a: number, b: number) => old[a] === changed[b]
  diffSequences(old.length, changed.length, isCommon, (count, oldStart, changedStart) => {
    upTo(oldStart, changedStart)
    for (let n = 0; n < count; n++) lines.push({ sign: ' ', text: old[oldAt + n] ?? '' })
    oldAt += count
    changedAt += count
  })
  upTo(old.length, changed.length)
  return lines
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))
