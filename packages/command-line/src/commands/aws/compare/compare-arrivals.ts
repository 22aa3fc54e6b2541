/** Compares what arrived from AWS with what arrived from Fantail, message by message. */
import { hash } from 'node:crypto'
import { isObject, objectOf } from '@fantail/contracts'

/** A message as it arrived. */
export interface Arrival {
  messageId: string
  /** Epoch ms. */
  publishedAt: number
  delayMs: number
  /** Hashes of what must be equal on both sides: members of the envelope, or the raw text, and headers. */
  parts: Record<string, string>
}

interface Received {
  body: string
  /** By names in lower case. Absent: it came through a queue. */
  headers?: Record<string, unknown>
  /** Epoch ms. */
  at: number
}

/** Members that are each side's own. The time of publishing differs by the time that the bridge needs. */
const OWN_MEMBERS = [
  'Timestamp',
  'Signature',
  'SignatureVersion',
  'SigningCertURL',
  'UnsubscribeURL',
  'SequenceNumber',
]
/** Headers that name the connection, or the subscription of one side. */
const OWN_HEADERS = [
  'host',
  'connection',
  'content-length',
  'traceparent',
  'x-amz-sns-subscription-arn',
  'x-fantail-event-type',
]

/** Undefined: the text is no notification, or it has no id. */
export function arrivalOf({ body, headers, at }: Received): Arrival | undefined {
  const envelope = objectOf(body)
  const isEnvelope = envelope?.Type === 'Notification' && typeof envelope.MessageId === 'string'
  const { MessageId, Timestamp } = isEnvelope ? envelope : {}
  const messageId = MessageId ?? headers?.['x-amz-sns-message-id']
  if (typeof messageId !== 'string') return undefined
  const publishedAt = typeof Timestamp === 'string' ? Date.parse(Timestamp) : at
  const members = isEnvelope ? without(envelope, OWN_MEMBERS) : { body }
  const named = Object.entries(without(headers ?? {}, OWN_HEADERS))
  const all = [
    ...Object.entries(members),
    ...named.map(([name, value]) => [`header ${name}`, value] as const),
  ]
  const parts = Object.fromEntries(all.map(([name, value]) => [name, hashOf(value)]))
  return { messageId, publishedAt, delayMs: at - publishedAt, parts }
}

/** Bodies of minutes would not fit into memory. The order of members does not matter. */
function hashOf(value: unknown): string {
  const sorted = (_: string, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member
  return hash('sha256', JSON.stringify(value, sorted), 'base64')
}

function without(members: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

export interface Comparison {
  same: number
  /** Ids that only one side has got. */
  onlyAws: string[]
  onlyFantail: string[]
  /** The parts that differ, with the number of messages. */
  differ: Record<string, number>
  /** Median ms from publishing to arrival; null: nothing arrived. */
  delayMs: { aws: number | null; fantail: number | null }
}

type Arrivals = ReadonlyMap<string, Arrival>

/** Compares the messages that were published between these times. */
export function compareArrivals(aws: Arrivals, fantail: Arrivals, from: number, until: number): Comparison {
  const missing = (of: Arrivals, other: Arrivals, since: number) =>
    [...of.values()]
      .filter(({ messageId }) => !other.has(messageId))
      .filter(({ publishedAt }) => publishedAt >= since && publishedAt <= until)
      .map(({ messageId }) => messageId)
  const differ: Record<string, number> = {}
  let same = 0
  for (const [id, one] of aws) {
    const other = fantail.get(id)
    if (!other) continue
    const names = differentParts(one, other)
    if (names.length === 0) same++
    for (const name of names) differ[name] = (differ[name] ?? 0) + 1
  }
  return {
    same,
    onlyAws: missing(aws, fantail, from),
    onlyFantail: missing(fantail, aws, Math.max(from, beginOf(aws)) + lagOf(aws, fantail)),
    differ,
    delayMs: { aws: medianDelay(aws), fantail: medianDelay(fantail) },
  }
}

/** Publishing time of the first message from AWS. SNS needs a moment until a new subscription gets messages. */
function beginOf(aws: Arrivals): number {
  if (aws.size === 0) return 0
  return [...aws.values()].reduce((first, { publishedAt }) => Math.min(first, publishedAt), Number.MAX_VALUE)
}

/** The longest time by which a message was published at Fantail later than at AWS: the delay of the bridge. */
function lagOf(aws: Arrivals, fantail: Arrivals): number {
  const lagMsOf = ({ messageId, publishedAt }: Arrival) =>
    (fantail.get(messageId)?.publishedAt ?? publishedAt) - publishedAt
  return [...aws.values()].reduce((longest, one) => Math.max(longest, lagMsOf(one)), 0)
}

function differentParts(one: Arrival, other: Arrival): string[] {
  const names = new Set([...Object.keys(one.parts), ...Object.keys(other.parts)])
  return [...names].filter((name) => one.parts[name] !== other.parts[name])
}

function medianDelay(arrivals: Arrivals): number | null {
  const delays = [...arrivals.values()].map(({ delayMs }) => delayMs).sort((a, b) => a - b)
  return delays[Math.floor(delays.length / 2)] ?? null
}

export function isEqual({ onlyAws, onlyFantail, differ }: Comparison): boolean {
  return onlyAws.length === 0 && onlyFantail.length === 0 && Object.keys(differ).length === 0
}
