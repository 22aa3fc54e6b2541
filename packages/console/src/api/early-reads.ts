/**
 * Reads that begin before most of the code has arrived. The page takes their answers, so it does not send them again.
 */
import type { InputOf, Operation, OutputOf } from './api-calls.ts'
import { send } from './send.ts'

/** Time for which an early answer may be taken, as long as a page keeps one. Past it: the page reads again. */
const EARLY_ANSWER_MS_MAX = 5_000

interface EarlyRead {
  operation: Operation
  input: object
  /** The read is the first page of a list. */
  isPaged: boolean
  answer: Promise<unknown>
  /** By performance.now(). */
  at: number
}

let reads: EarlyRead[] = []

export function readEarly<Run extends Operation>(
  operation: Run,
  input: InputOf<Run>,
  { isPaged = false }: { isPaged?: boolean } = {},
): void {
  const answer = send(operation, input)
  // The page reports the failure when it takes the answer.
  answer.catch(() => undefined)
  reads.push({ operation, input, isPaged, answer, at: performance.now() })
}

export function earlyReads(): readonly EarlyRead[] {
  return reads
}

/** The answer of an early read. Each answer can be taken once. undefined: there is none. */
export function takeEarly<Run extends Operation>(
  operation: Run,
  input: InputOf<Run>,
): Promise<OutputOf<Run>> | undefined {
  const found = reads.find((read) => read.operation === operation && isSame(read.input, input))
  if (!found) return undefined
  reads = reads.filter((read) => read !== found)
  const isFresh = performance.now() - found.at < EARLY_ANSWER_MS_MAX
  return isFresh ? (found.answer as Promise<OutputOf<Run>>) : undefined
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
