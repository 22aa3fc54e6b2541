/**
 * Recorded answers of AWS from the tests of gocloud.dev. They are read from that Go module when tests run: `go mod
 * download` gets it from the module cache or the module proxy. Nothing of the module is copied here, and only the
 * recordings of its SNS and SQS driver are read. The recorder removed message attributes, and everything behind them,
 * from the bodies of requests. These parts are restored here from the message that was received later in the same
 * recording.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const MODULE = 'gocloud.dev@v0.45.0'
const FOLDER = 'pubsub/awssnssqs/testdata'
const DOWNLOAD_MS = 60_000
const CLEARED = 'CLEARED'
const DEFAULT_ACCOUNT = '456752665576'

export interface Exchange {
  /** An operation of SQS (AWS JSON), or an Action of SNS (AWS Query). */
  operation: string
  /** Body in AWS JSON. */
  input?: Json
  /** Body in AWS Query. */
  parameters?: URLSearchParams
  status: number
  text: string
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON of many shapes
export type Json = any

export interface Recording {
  name: string
  account: string
  exchanges: Exchange[]
}

/** The recordings, or why they are not available. */
export async function recordedAnswers(): Promise<Recording[] | string> {
  let folder: string
  try {
    const options = { cwd: tmpdir(), timeout: DOWNLOAD_MS }
    const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], options)
    folder = join(JSON.parse(stdout).Dir, FOLDER)
  } catch (error) {
    return `no Go, or no ${MODULE} from its module proxy: ${(error as Error).message.split('\n')[0]}`
  }
  const files = await readdir(folder, { recursive: true })
  const names = files.filter((name) => name.endsWith('.replay')).sort()
  return Promise.all(names.map(async (name) => recordingOf(name, await readFile(join(folder, name), 'utf8'))))
}

function recordingOf(name: string, text: string): Recording {
  const exchanges: Exchange[] = (JSON.parse(text).Entries ?? []).map(exchangeOf)
  const account = /:(\d{12}):|\/(\d{12})\//.exec(exchanges.map((one) => one.text).join())
  const recording = { name, account: account?.[1] ?? account?.[2] ?? DEFAULT_ACCOUNT, exchanges }
  completeRequests(recording)
  return recording
}

function exchangeOf({ Request: request, Response: response }: Json): Exchange {
  const body = ((request.BodyParts ?? []) as string[]).map(fromBase64).join('')
  const answer = { status: response.StatusCode, text: fromBase64(response.Body ?? '') }
  const target = request.Header['X-Amz-Target']?.[0]
  if (target !== undefined) {
    const operation = target.replace('AmazonSQS.', '')
    return { operation, input: body.endsWith(CLEARED) ? CLEARED : JSON.parse(body), ...answer }
  }
  const parameters = new URLSearchParams(body)
  return { operation: parameters.get('Action') ?? '', parameters, ...answer }
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString()

/** A message that a consumer in the recording received. */
export interface ReceivedMessage {
  MessageId: string
  Body: string
  Attributes: Record<string, string>
  MessageAttributes?: Record<string, Json>
  MD5OfMessageAttributes?: string
}

/** The messages in the answer of a receive. */
export function messagesIn({ operation, text, status }: Exchange): ReceivedMessage[] {
  if (operation !== 'ReceiveMessage' || status !== 200) return []
  return JSON.parse(text).Messages ?? []
}

/** The published or sent content. If the body is an envelope, these are the envelope's message and attributes. */
export function contentOf({ Body, MessageAttributes }: ReceivedMessage): { text: string; attributes: Json } {
  const envelope = Body.startsWith('{') ? JSON.parse(Body) : {}
  if (envelope.Type !== 'Notification') return { text: Body, attributes: MessageAttributes ?? {} }
  const given: [string, Json][] = Object.entries(envelope.MessageAttributes ?? {})
  const attributes = given.map(([name, { Type, Value }]) => [name, { DataType: Type, StringValue: Value }])
  return { text: envelope.Message, attributes: Object.fromEntries(attributes) }
}

function completeRequests({ exchanges }: Recording): void {
  const queue = createdBy(exchanges, 'CreateQueue', /"QueueUrl":"([^"]+)"/)
  const topic = createdBy(exchanges, 'CreateTopic', /<TopicArn>([^<]+)</)
  const received = exchanges.flatMap(messagesIn)
  const first = received.filter(({ Attributes }) => Attributes.ApproximateReceiveCount === '1')
  const unused = [...first].sort((a, b) => sentAt(a) - sentAt(b))
  for (const exchange of exchanges) {
    if (exchange.input === CLEARED) completeSend(exchange, queue, received)
    const { parameters } = exchange
    const cleared = [...(parameters?.keys() ?? [])].find((key) => key.endsWith(CLEARED))
    if (parameters && cleared !== undefined)
      completePublish(parameters, { cleared, topic, unused, refused: exchange.status !== 200 })
  }
}

const sentAt = ({ Attributes }: ReceivedMessage) => Number(Attributes.SentTimestamp)

function createdBy(exchanges: Exchange[], operation: string, pattern: RegExp): string {
  const made = exchanges
    .filter((one) => one.operation === operation)
    .map(({ text }) => pattern.exec(text)?.[1])
  return made.at(-1) ?? ''
}

/** Finds the message by the id in the answer. A refused batch had one entry without a group. */
function completeSend(exchange: Exchange, QueueUrl: string, received: ReceivedMessage[]): void {
  const { Successful = [{ Id: '0' }] } = JSON.parse(exchange.text)
  const Entries = Successful.map(({ Id, MessageId }: Json) => {
    const message = received.find((one) => one.MessageId === MessageId)
    const { MessageGroupId } = message?.Attributes ?? {}
    if (!message) return { Id, MessageBody: 'refused' }
    return { Id, MessageBody: message.Body, MessageAttributes: message.MessageAttributes, MessageGroupId }
  })
  exchange.input = { QueueUrl, Entries }
}

interface Publishing {
  cleared: string
  topic: string
  /** Messages in the order of sending. Each is removed when it is used. */
  unused: ReceivedMessage[]
  /** Refused because an entry had no group. */
  refused: boolean
}

function completePublish(parameters: URLSearchParams, { cleared, topic, unused, refused }: Publishing): void {
  const entry = cleared.slice(0, -CLEARED.length)
  const at = unused.findIndex((one) => contentOf(one).text === parameters.get(`${entry}Message`))
  const [message] = at < 0 ? [] : unused.splice(at, 1)
  parameters.delete(cleared)
  parameters.set('TopicArn', topic)
  parameters.set('Version', '2010-03-31')
  // A standard queue gets no group.
  if (topic.endsWith('.fifo') && !refused) parameters.set(`${entry}MessageGroupId`, 'group')
  if (!message) return
  for (const [i, [name, value]] of Object.entries<Json>(contentOf(message).attributes).entries()) {
    const attribute = `${entry}MessageAttributes.entry.${i + 1}.`
    parameters.set(`${attribute}Name`, name)
    parameters.set(`${attribute}Value.DataType`, value.DataType)
    parameters.set(`${attribute}Value.StringValue`, value.StringValue)
  }
}
