/** Gathers the lines of a stream into batches for the API. */
import { createInterface } from 'node:readline'
import type { MessageInput } from '@fantail/client/api'
import type { CommandContext } from '../../frame/command-context.ts'

/** Messages of a batch, which is the API's own bound. Past it: the next batch begins. */
const BATCH_SIZE = 100
/** Bytes of a batch, below the API's bound for a request. Past it: the next batch begins. */
const LINE_BATCH_BYTES_MAX = 900_000
/** A batch that is not full waits this long for another line. */
const LINE_LINGER_MS = 100

export interface Batch {
  /** From 1. */
  number: number
  messages: MessageInput[]
  /** The line of each message, from 1. */
  lines: number[]
}

interface Line {
  number: number
  message: MessageInput
}

/** `read` throws if a line is wrong. After Ctrl-C no more lines come. */
export async function* linesOf(
  { stdin: input, signal }: Pick<CommandContext, 'stdin' | 'signal'>,
  read: (line: string, number: number) => MessageInput,
): AsyncGenerator<Line> {
  let number = 0
  for await (const line of createInterface({ input, signal, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    if (line.trim() !== '') yield { number, message: read(line, number) }
  }
}

interface BatchOptions {
  size?: number | undefined
  /** A batch is sent after a short wait, even if it is not full. */
  lingers: boolean
}

export async function* batchesOf(
  lines: AsyncGenerator<Line>,
  { size = BATCH_SIZE, lingers }: BatchOptions,
): AsyncGenerator<Batch> {
  let batch: Batch = { number: 1, messages: [], lines: [] }
  let bytes = 0
  const cut = () => {
    const full = batch
    batch = { number: full.number + 1, messages: [], lines: [] }
    bytes = 0
    return full
  }
  let next = lines.next()
  for (;;) {
    const step = lingers && batch.messages.length > 0 ? await inTime(next) : await next
    if (step === undefined) {
      yield cut()
      continue
    }
    if (step.done) break
    const { number, message } = step.value
    const own = Buffer.byteLength(JSON.stringify(message)) + 1
    if (batch.messages.length > 0 && bytes + own > LINE_BATCH_BYTES_MAX) yield cut()
    batch.messages.push(message)
    batch.lines.push(number)
    bytes += own
    next = lines.next()
    if (batch.messages.length >= Math.min(size, BATCH_SIZE)) yield cut()
  }
  if (batch.messages.length > 0) yield cut()
}

/** Waits for LINE_LINGER_MS at most. Undefined: no line came in that time. */
async function inTime<T>(next: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LINE_LINGER_MS)
  })
  try {
    return await Promise.race([next, late])
  } finally {
    clearTimeout(timer)
  }
}
