/**
 * Publishes lines of stdin in batches. A few batches are under way at a time. Until one of them ends, no more lines are
 * read, so memory does not grow with the input. FIFO topics get one batch at a time, which keeps the order of the
 * lines.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, type MessageInput, type PublishReceipt, publish } from '@fantail/client/api'
import type { CommandContext } from '../../frame/command-context.ts'
import { readPairs, readRate } from '../../frame/command-input.ts'
import { failureText } from '../../frame/failure-text.ts'
import { durationText } from '../../output/durations.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import type { Progress } from '../../output/progress.ts'
import { counted } from '../../output/text-table.ts'
import { type Batch, batchesOf, linesOf } from './line-batches.ts'

/** Batches under way at a time. Past it: no more lines are read. */
const BATCHES_MAX = 4
/** With a rate, each batch has the messages of this time. */
const RATE_STEP_MS = 100

interface Run {
  context: CommandContext
  client: Client
  topic: string
  key: string
  progress: Progress
  published: number
  failures: { batch: Batch; error: unknown }[]
}

export async function publishLines(
  context: CommandContext,
  topic: string,
  flags: PublishFlags,
): Promise<ExitName> {
  const rate = flags.rate === undefined ? undefined : readRate(flags.rate, '--rate')
  const { out, signal } = context
  const run: Run = {
    context,
    client: await context.api(),
    topic,
    key: flags.idempotencyKey ?? randomUUID(),
    progress: out.progress('messages'),
    published: 0,
    failures: [],
  }
  // Batches of a repeated run must be the same, so they do not depend on the time at which lines arrive.
  const lingers = flags.idempotencyKey === undefined
  const messages = linesOf(context, (line, number) => readLine(line, number, flags))
  await sendAll(run, batchesOf(messages, { size: batchSize(rate), lingers }), rate)
  run.progress.end()
  const end = report(run)
  signal.throwIfAborted()
  return end
}

function batchSize(rate: number | undefined): number | undefined {
  return rate === undefined ? undefined : Math.max(1, Math.floor((rate * RATE_STEP_MS) / 1_000))
}

function readLine(line: string, number: number, flags: PublishFlags): MessageInput {
  if (!flags.objects) return { message: line, ...membersOf(flags) }
  try {
    const object = JSON.parse(line) as MessageInput
    if (object === null || typeof object !== 'object' || Array.isArray(object)) throw new Error('no object')
    return { ...membersOf(flags), ...object }
  } catch (error) {
    throw new CommandError('usage', `line ${number} is not a JSON object: ${(error as Error).message}`)
  }
}

async function sendAll(run: Run, batches: AsyncIterable<Batch>, rate: number | undefined): Promise<void> {
  const most = run.topic.endsWith('.fifo') ? 1 : BATCHES_MAX
  const underWay = new Set<Promise<void>>()
  let begun = 0
  try {
    for await (const batch of batches) {
      if (run.failures.length > 0) break
      if (rate !== undefined) await waitUntilDue(run, (begun * 1_000) / rate)
      begun += batch.messages.length
      const sent = send(run, batch).finally(() => underWay.delete(sent))
      underWay.add(sent)
      if (underWay.size >= most) await Promise.race(underWay)
    }
  } finally {
    await Promise.all(underWay)
  }
}

async function waitUntilDue({ progress, context }: Run, atMs: number): Promise<void> {
  const waitMs = atMs - progress.elapsedMs
  if (waitMs > 0) await delay(waitMs, undefined, { signal: context.signal })
}

/** Sends a batch. It never rejects: failures are added to `failures`. */
async function send(run: Run, batch: Batch): Promise<void> {
  const { client, topic, key, context, progress } = run
  try {
    const answer = (await publish({
      client,
      path: { topic },
      body: { messages: batch.messages },
      headers: { 'Idempotency-Key': `${key}-${batch.number}` },
    })) as { results: PublishReceipt[] }
    run.published += answer.results.length
    progress.update(run.published)
    if (!context.out.json && !context.out.quiet) return
    for (const [index, receipt] of answer.results.entries()) {
      const line = batch.lines[index]
      context.out.item({ line, ...receipt }, () => receipt.messageId)
    }
  } catch (error) {
    run.failures.push({ batch, error })
  }
}

function report({ published, failures, progress, context }: Run): ExitName {
  const [first] = failures
  if (first) {
    for (const { batch, error } of failures) {
      const lines = `lines ${batch.lines[0]} to ${batch.lines.at(-1)} are not known to be published`
      context.out.warn(`${lines}: ${failureText(error)}`)
    }
    if (published === 0) throw first.error
    context.out.warn(
      `${counted(published, 'message was', 'messages were')} published. Lines behind the failure were not read.`,
    )
    return 'partlyDone'
  }
  context.out.note(`published ${counted(published, 'message')} in ${durationText(progress.elapsedMs)}`)
  return 'done'
}

export interface PublishFlags {
  attr?: string[]
  subject?: string
  type?: string
  group?: string
  dedup?: string
  idempotencyKey?: string
  rate?: string
  lines?: boolean
  objects?: boolean
}

/** The members of a message that flags set. */
export function membersOf({ attr, subject, type, group, dedup }: PublishFlags): Record<string, never> {
  const members = {
    ...(attr && { attributes: readPairs(attr, '--attr') }),
    ...(subject !== undefined && { subject }),
    ...(type !== undefined && { eventType: type }),
    ...(group !== undefined && { groupId: group }),
    ...(dedup !== undefined && { deduplicationId: dedup }),
  }
  return members as Record<string, never>
}
