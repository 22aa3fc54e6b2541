/** `fantail explain` shows where each delivery of a message stands, and why. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attempt,
  type Client,
  type Delivery,
  getMessage,
  listDeliveries,
  listDeliveryAttempts,
  type Message,
} from '@fantail/client/api'
import { DELIVERY_CAUSES } from '@fantail/contracts'
import { printable } from '@fantail/policy'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { durationText } from '../../output/durations.ts'
import { exitOf } from '../../output/exit-codes.ts'
import type { Style } from '../../output/output.ts'
import { tableText } from '../../output/text-table.ts'

const EXPLAIN_EVERY_MS = 500
/** The wait of a follower for a message that was just published. Past it: the message is not found. */
const APPEARS_MS_MAX = 10_000

export const explain: Define = (command, does) => {
  command
    .argument('<message>', 'the id that publishing answered')
    .option('--sub <id>', 'only the delivery for this subscription, with its recorded attempts')
    .option('--follow', 'shows every change until all deliveries have ended')
    .action(
      does((context, id: string, { sub, follow = false }: { sub?: string; follow?: boolean }) =>
        explainMessage(context, id, { sub, follow }),
      ),
    )
  examples(
    command,
    'explain 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
    'explain 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21 --follow --timeout 2m',
  )
}

interface Explained {
  message: Message
  deliveries: Delivery[]
  /** Absent: no subscription was named. */
  attempts?: Attempt[]
}

export async function explainMessage(
  context: CommandContext,
  messageId: string,
  { sub, follow }: { sub?: string | undefined; follow: boolean },
): Promise<void> {
  const client = await context.api()
  // The API answers a publish before a worker has recorded the message.
  const appearsUntil = performance.now() + APPEARS_MS_MAX
  for (let shown: string | undefined; ; ) {
    const explained = await read(client, messageId, sub).catch((error: unknown) => {
      if (follow && isNotFound(error) && performance.now() < appearsUntil) return undefined
      throw error
    })
    if (!explained) {
      await delay(EXPLAIN_EVERY_MS, undefined, { signal: context.signal })
      continue
    }
    const text = textOf(explained, context)
    const changes = stateOf(explained)
    if (changes !== shown) context.out.item(explained, () => text)
    shown = changes
    if (!follow || !explained.deliveries.some(goesOn)) return
    await delay(EXPLAIN_EVERY_MS, undefined, { signal: context.signal })
  }
}

function isNotFound(error: unknown): boolean {
  return exitOf(error) === 'notFound'
}

async function read(client: Client, messageId: string, sub: string | undefined): Promise<Explained> {
  const path = { messageId }
  const [message, { deliveries }, attempts] = await Promise.all([
    getMessage({ client, path }),
    listDeliveries({ client, path }),
    sub === undefined ? undefined : readAttempts(client, messageId, sub),
  ])
  return {
    message,
    deliveries: deliveries.filter(({ subscriptionId }) => sub === undefined || subscriptionId === sub),
    ...(attempts && { attempts }),
  }
}

const goesOn = ({ state }: Delivery) => state === 'waiting' || state === 'inFlight'

/** The part of the deliveries that `--follow` watches. If it changes, the deliveries are printed again. */
function stateOf({ deliveries }: Explained): string {
  return deliveries
    .map(({ subscriptionId, state, attempts, cause }) => [subscriptionId, state, attempts, cause].join())
    .join(';')
}

const SIGNS: Record<Delivery['state'], [sign: string, style: Style]> = {
  delivered: ['✓', 'green'],
  waiting: ['▲', 'yellow'],
  inFlight: ['▲', 'yellow'],
  deadLettered: ['✕', 'red'],
  discarded: ['✕', 'red'],
  expired: ['✕', 'red'],
  quarantined: ['✕', 'red'],
  filtered: ['–', 'dim'],
}

function textOf({ message, deliveries, attempts = [] }: Explained, { out }: CommandContext): string {
  const { topicArn, sizeBytes, publishedAt } = message
  const name = topicArn === null ? 'to one endpoint' : topicArn.slice(topicArn.lastIndexOf(':') + 1)
  const head = `${name} · ${sizeBytes} B · published ${publishedAt}`
  if (!message.logged) return `${head}\nno deliveries: the message has left the outcome log`
  if (deliveries.length === 0) return `${head}\nno deliveries: the topic has no subscription that matches`
  const rows = deliveries.map((delivery) => [
    SIGNS[delivery.state][0],
    delivery.endpoint ?? delivery.subscriptionName ?? delivery.subscriptionId,
    delivery.state,
    attemptsText(delivery),
    nextText(delivery),
  ])
  const [, ...lines] = tableText(['', '', '', '', ''], rows)
  const causes = deliveries.flatMap(({ cause, deadLetter }, index) => [
    out.style(SIGNS[deliveries[index]?.state ?? 'waiting'][1], lines[index] ?? ''),
    ...(cause === null ? [] : [`    ${cause}: ${DELIVERY_CAUSES[cause]}`]),
    ...(deadLetter ? [`    dead letter ${deadLetter.messageId} in ${deadLetter.queueArn}`] : []),
  ])
  return [head, ...causes, ...attempts.map(attemptLine)].join('\n')
}

function attemptsText({ attempts, attemptsMax, lastStatusCode, lastError, redrives }: Delivery): string {
  const last = lastStatusCode ?? lastError
  return [
    `${attempts}${attemptsMax === null ? '' : ` of ${attemptsMax}`} attempts`,
    ...(last === null ? [] : [`last ${printable(String(last))}`]),
    ...(redrives > 0 ? [`${redrives} redrives`] : []),
  ].join(', ')
}

function nextText({ nextAttemptAt, endedAt, reason, delayMs }: Delivery): string {
  if (nextAttemptAt !== null) {
    const inMs = Date.parse(nextAttemptAt) - Date.now()
    return inMs > 0 ? `next in ${durationText(inMs)}` : 'next now'
  }
  const parts = [
    ...(reason === null ? [] : [reason]),
    ...(endedAt === null ? [] : [`ended ${endedAt}`]),
    ...(delayMs ? [`waited ${durationText(delayMs)}`] : []),
  ]
  return parts.join(', ')
}

/** Characters of an answer's body in a line. Past them: the body is cut. */
const BODY_CHARS_SHOWN_MAX = 100

/** A deleted subscription has none. */
async function readAttempts(client: Client, messageId: string, id: string): Promise<Attempt[]> {
  try {
    const { attempts } = await listDeliveryAttempts({ client, path: { messageId, id } })
    return attempts.toReversed()
  } catch (error) {
    if (exitOf(error) === 'notFound') return []
    throw error
  }
}

function attemptLine(attempt: Attempt): string {
  const { startedAt, phase, statusCode, error, durationMs, cause, waited, responseBody } = attempt
  const late = waited !== null && waited.cause !== null && waited.cause !== cause
  const parts = [
    `${startedAt.slice(11, 23)} attempt ${attempt.attempt}`,
    phase,
    `${statusCode ?? printable(error ?? 'no answer')} in ${durationText(durationMs)}`,
    ...(late ? [`waited ${durationText(waited.ms)} for ${waited.cause}`] : []),
    ...(responseBody === null ? [] : [`"${printable(responseBody.slice(0, BODY_CHARS_SHOWN_MAX))}"`]),
  ]
  return `    ${parts.join(' · ')}`
}
