/**
 * Compares the recorded answers of AWS in gocloud.dev with ours. Each recording's requests are made in their order, and
 * status, code, text and members must equal the recorded ones. Ids, handles, sequence numbers, times and signatures are
 * our own. AWS answers a receive from one of its servers. An empty receive therefore proves nothing, and a message may
 * come with an earlier receive.
 */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import {
  contentOf,
  type Exchange,
  type Json,
  messagesIn,
  type ReceivedMessage,
  type Recording,
  recordedAnswers,
} from '../harness/aws/recorded-aws.ts'
import { useStack } from '../harness/services/stack.ts'

const RECORDINGS = 51
const REGION = 'us-east-2'
const RECEIVE_MS = 10_000

const recordings = await recordedAnswers()
const stack = useStack()

if (typeof recordings === 'string') {
  const why = recordings
  test('AWS’s answers in gocloud.dev are here', ({ skip }) => skip(why))
} else {
  test('all recordings are here', () => {
    expect(recordings).toHaveLength(RECORDINGS)
  })
  test.concurrent.each(recordings.map((recording) => [recording.name, recording] as const))(
    '[223] %s',
    async (_, recording) => {
      const replay = new Replay(recording)
      for (const [place, exchange] of recording.exchanges.entries()) {
        const { ours, recorded } = await replay.compare(exchange)
        expect(ours, `${place} ${exchange.operation}`).toEqual(recorded)
      }
    },
  )
}

interface Compared {
  ours: unknown
  recorded: unknown
}

class Replay {
  readonly #account: string
  /** Maps recorded handles and subscription ARNs to ours. */
  readonly #known = new Map<string, string>()
  /** For each queue: messages that we received earlier than the recording did. */
  readonly #pools = new Map<string, ReceivedMessage[]>()

  constructor({ account }: Recording) {
    this.#account = account
  }

  async compare(exchange: Exchange): Promise<Compared> {
    const messages = messagesIn(exchange)
    if (messages.length > 0) return this.#receive(exchange, messages)
    const { status, text } = await this.#send(exchange)
    if (exchange.operation === 'ReceiveMessage' && status === 200)
      this.#pool(exchange).push(...(JSON.parse(text).Messages ?? []))
    if (exchange.operation === 'Subscribe') this.#learn(SUBSCRIPTION, exchange.text, text)
    return {
      ours: factsOf(exchange.operation, status, text),
      recorded: factsOf(exchange.operation, exchange.status, exchange.text),
    }
  }

  async #receive(exchange: Exchange, wanted: ReceivedMessage[]): Promise<Compared> {
    const ours: Json[] = []
    for (const message of wanted) {
      const own = await waitFor(() => this.#take(exchange, message), { timeoutMs: RECEIVE_MS })
      this.#known.set((message as Json).ReceiptHandle, (own as Json).ReceiptHandle)
      ours.push(messageFacts(own))
    }
    return { ours, recorded: wanted.map(messageFacts) }
  }

  /** A message like the recorded one, from the pool or from the queue. */
  async #take(exchange: Exchange, wanted: ReceivedMessage): Promise<ReceivedMessage | undefined> {
    const pool = this.#pool(exchange)
    const isLike = (one: ReceivedMessage) => sameMessage(one, wanted)
    if (!pool.some(isLike)) {
      const input = { ...exchange.input, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }
      const { text } = await this.#send({ ...exchange, input })
      pool.push(...(JSON.parse(text).Messages ?? []))
    }
    const at = pool.findIndex(isLike)
    return at < 0 ? undefined : pool.splice(at, 1)[0]
  }

  #pool({ input }: Exchange): ReceivedMessage[] {
    const pool = this.#pools.get(input.QueueUrl) ?? []
    this.#pools.set(input.QueueUrl, pool)
    return pool
  }

  #learn(pattern: RegExp, recorded: string, ours: string): void {
    this.#known.set(pattern.exec(recorded)?.[1] ?? '', pattern.exec(ours)?.[1] ?? '')
  }

  async #send({ operation, input, parameters }: Exchange): Promise<{ status: number; text: string }> {
    const service = input === undefined ? 'sns' : 'sqs'
    const Authorization = `AWS4-HMAC-SHA256 Credential=${this.#account}/20260101/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=00`
    const form = { headers: { Authorization }, body: this.#translated(parameters) }
    const json = {
      headers: {
        Authorization,
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': `AmazonSQS.${operation}`,
      },
      body: JSON.stringify(input, (_, value) => this.#known.get(value) ?? value),
    }
    const request = input === undefined ? form : json
    const response = await fetch(`${stack().api.url}/`, { method: 'POST', ...request })
    return { status: response.status, text: await response.text() }
  }

  #translated(parameters: URLSearchParams = new URLSearchParams()): URLSearchParams {
    const own = new URLSearchParams()
    for (const [name, value] of parameters) own.set(name, this.#known.get(value) ?? value)
    return own
  }
}

const SUBSCRIPTION = /<SubscriptionArn>([^<]+)</

/** The part of an answer that must be the same. */
function factsOf(operation: string, status: number, text: string): unknown {
  return { status, ...(text.startsWith('<') ? xmlFacts(text) : jsonFacts(operation, text)) }
}

function xmlFacts(text: string): object {
  const all = (tag: string) =>
    [...text.matchAll(new RegExp(`<${tag}>([^<]*)<`, 'g'))].map(([, value]) => value)
  return {
    root: /^<(\w+) xmlns="([^"]+)">/.exec(text)?.slice(1),
    ...Object.fromEntries(['Type', 'Code', 'Message', 'TopicArn', 'Id'].map((tag) => [tag, all(tag)])),
    subscription: SUBSCRIPTION.exec(text)?.[1]?.split(':').slice(0, -1),
    members: [...new Set([...text.matchAll(/<(\w+)/g)].map(([, tag]) => tag))].sort(),
  }
}

function jsonFacts(operation: string, text: string): object {
  if (text === '') return { empty: true }
  const { QueueUrl, Successful, Failed, Messages, ...rest } = JSON.parse(text)
  // An empty receive proves nothing about the queue.
  const taken = operation === 'ReceiveMessage' ? {} : { Messages }
  const path = QueueUrl === undefined ? undefined : new URL(QueueUrl).pathname
  return { ...rest, ...taken, path, Successful: sorted(Successful), Failed: sorted(Failed) }
}

/** Entries sorted by id. For other ids and numbers, only their presence is compared. */
function sorted(entries: Json[] = []): Json[] {
  const own = ({ MessageId, SequenceNumber, ...facts }: Json) => ({
    ...facts,
    hasId: MessageId !== undefined,
    hasNumber: SequenceNumber !== undefined,
  })
  return entries.map(own).sort((a, b) => a.Id.localeCompare(b.Id))
}

function messageFacts(message: ReceivedMessage): object {
  const { Body, Attributes, MD5OfMessageAttributes } = message
  const envelope = Body.startsWith('{') ? JSON.parse(Body) : {}
  return {
    ...contentOf(message),
    envelope: envelope.Type === 'Notification' && [Object.keys(envelope), envelope.TopicArn],
    members: Object.keys(message).sort(),
    attributes: Object.keys(Attributes).sort(),
    count: Attributes.ApproximateReceiveCount,
    group: Attributes.MessageGroupId,
    MD5OfMessageAttributes,
  }
}

function sameMessage(one: ReceivedMessage, other: ReceivedMessage): boolean {
  const key = (message: ReceivedMessage) => {
    const { text, attributes } = contentOf(message)
    const given = Object.entries<Json>(attributes)
    const named = given.map(([name, { DataType, StringValue }]) => [name, DataType, StringValue]).sort()
    return JSON.stringify([text, named, message.Attributes.ApproximateReceiveCount])
  }
  return key(one) === key(other)
}
