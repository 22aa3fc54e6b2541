/**
 * The documents that subscribers get (checklist 47 to 50, 68, 69), in AWS's key order and spacing. A message is escaped
 * and encoded once for all its deliveries. They differ in one ARN, which stands between two prepared pieces. Copying
 * three buffers took 0.4 µs for 1 KB. Joining and encoding strings took 0.7 µs (4.1 with non-Latin text), because the
 * client has to encode a string body for every request.
 */
import type { KeyObject } from 'node:crypto'
import {
  isResent,
  jsonOf,
  type Message,
  type MessageAttribute,
  type MessageKind,
  type Protocol,
  shownIdOf,
} from '@fantail/contracts'
import type { Signature, SignatureVersion } from '../signing/signer.ts'
import { isoOf } from './iso-time.ts'
import type { EndpointTarget } from './target.ts'
import { unsubscribeQuery, unsubscribeUrl } from './unsubscribe-link.ts'

/** The member for all protocols in a message with a text per protocol. */
const SHARED_TEXT = 'default'

export interface Envelope {
  message: Message
  kind: MessageKind
  /** Links begin with this origin and path. It has no slash at its end. */
  publicUrl: string
  /** Signs links to unsubscribe. undefined: they have no token. */
  linkKey: KeyObject | undefined
  /** undefined: the topic's messages are not signed. */
  signatureVersion: SignatureVersion | undefined
  /**
   * True for an envelope that is kept for a long time. Its bytes are then copied. Otherwise a shared buffer of eight
   * times their size would stay in memory.
   */
  lasting: boolean
  /** Whether the message is stored sealed. Its copies in queues are then sealed too. */
  sealed: boolean
  /** The texts that have been asked for. Only `structure: 'json'` has more than one. */
  texts: Partial<Record<Protocol | typeof SHARED_TEXT, EnvelopeText>>
}

export interface EnvelopeText {
  /** The text for subscribers of the protocol. It is also the body of a raw delivery. */
  readonly text: string
  /** The text's bytes. They are made when the first raw subscription needs them. */
  bytes: Buffer | undefined
  /** Whether the text is JSON. It is set when the first raw subscription needs to know. */
  isJson: boolean | undefined
  /** The JSON document. It is made when the first subscription without raw delivery needs it. */
  document: Document | undefined
  /** The signature of a signed topic's message. It must be there before the document is made. */
  signature: Signature | undefined
}

/**
 * The JSON document in two parts, before and after what differs between subscriptions. A document in which nothing
 * differs is only `before`.
 */
interface Document {
  before: Buffer
  after: Buffer
  /** The text between the parts: the rest of the link to unsubscribe, or the subscription's ARN. */
  between: 'leaveQuery' | 'arn' | undefined
}

/** The beginning of the links in a process's messages, and the key that signs them. */
export interface Links {
  /** Used if the message names no other. */
  publicUrl?: string | undefined
  key?: KeyObject | undefined
}

/** The origin of links, if neither the message nor the process names one. */
const PUBLIC_URL_DEFAULT = 'http://localhost:4100'

export function compileEnvelope(
  message: Message,
  links: Links = {},
  signatureVersion?: SignatureVersion,
): Envelope {
  const base = message.publicUrl ?? links.publicUrl ?? PUBLIC_URL_DEFAULT
  return {
    message,
    kind: message.kind ?? 'Notification',
    publicUrl: base.replace(/\/+$/, ''),
    linkKey: links.key,
    signatureVersion,
    lasting: false,
    sealed: false,
    texts: {},
  }
}

/** Whether a signed topic sends this target a signature. A raw notification has none. */
export function carriesSignature({ signatureVersion, kind }: Envelope, target: EndpointTarget): boolean {
  return signatureVersion !== undefined && !(target.raw && kind === 'Notification')
}

/**
 * The body of an HTTP attempt: the envelope, or the bare text for a raw subscription's notifications. For a signed
 * topic it throws if the signature has not been made (`EnvelopeSigning`), so nothing is sent unsigned.
 */
export function renderBody(envelope: Envelope, target: EndpointTarget): Buffer {
  const text = textFor(envelope, target.protocol)
  if (target.raw && envelope.kind === 'Notification') {
    text.bytes ??= bytesOf(envelope, text.text)
    return text.bytes
  }
  text.document ??= compileDocument(envelope, text)
  const { before, after, between } = text.document
  if (between === undefined) return before
  const own = between === 'arn' ? Buffer.from(target.subscriptionArn) : leaveQuery(envelope, target)
  const body = Buffer.allocUnsafe(before.length + own.length + after.length)
  body.set(before, 0)
  body.set(own, before.length)
  body.set(after, before.length + own.length)
  return body
}

const REPLAYED = Buffer.from(',\n  "Replayed" : true\n}')

/** The envelope of a message that is sent again. The member comes last, and no signature covers it. */
export function replayedBody(document: Buffer): Buffer {
  return Buffer.concat([document.subarray(0, document.lastIndexOf('\n')), REPLAYED])
}

function leaveQuery({ linkKey }: Envelope, target: EndpointTarget): Buffer {
  target.leaveQuery ??= Buffer.from(unsubscribeQuery(target.subscriptionArn, linkKey))
  return target.leaveQuery
}

/** The link with which the endpoint unsubscribes. */
export function linkOf(envelope: Envelope, target: EndpointTarget): string {
  return unsubscribeUrl(envelope.publicUrl, leaveQuery(envelope, target).toString())
}

export interface QueueBody {
  body: string
  attributes: Record<string, MessageAttribute>
  groupId?: string
  deduplicationId?: string
  traceHeader?: string
  /** The queue stores it sealed. */
  sealed?: boolean
}

/**
 * The body for a queue, which may be a subscriber or a dead-letter queue. It is the same envelope without attributes,
 * or the raw text with the message's attributes (checklist 46, 153). A FIFO queue also gets the group and the
 * deduplication id. A standard queue gets only the group, and only from a standard topic.
 */
export function queueBody(
  envelope: Envelope,
  target: EndpointTarget,
  queueArn: string,
  delivery?: Buffer | undefined,
): QueueBody {
  const { message, kind } = envelope
  const { groupId, deduplicationId, traceHeader } = message
  const raw = target.raw && kind === 'Notification'
  const document = raw ? undefined : renderBody(envelope, target)
  const body: QueueBody = {
    body: document
      ? String(isResent(delivery) ? replayedBody(document) : document)
      : textFor(envelope, target.protocol).text,
    attributes: (raw && message.attributes) || {},
  }
  const fifo = isFifo(queueArn)
  if (groupId !== undefined && (fifo || !isFifo(message.topicArn))) body.groupId = groupId
  if (deduplicationId !== undefined && fifo) body.deduplicationId = deduplicationId
  if (traceHeader !== undefined) body.traceHeader = traceHeader
  if (envelope.sealed) body.sealed = true
  return body
}

function isFifo(arn: string): boolean {
  return arn.endsWith('.fifo')
}

/** The text for subscribers of the protocol. Protocols with the same text share it. */
export function textFor(envelope: Envelope, protocol: Protocol): EnvelopeText {
  const { message, texts } = envelope
  const json = message.structure === 'json'
  const key = json ? protocol : SHARED_TEXT
  texts[key] ??= json ? ownText(envelope, protocol) : newText(message.message)
  return texts[key]
}

function newText(text: string): EnvelopeText {
  return { text, bytes: undefined, isJson: undefined, document: undefined, signature: undefined }
}

function ownText({ message, texts }: Envelope, protocol: Protocol): EnvelopeText {
  const text = protocolText(message.message, protocol)
  return Object.values(texts).find((known) => known.text === text) ?? newText(text)
}

function compileDocument(envelope: Envelope, { text, signature }: EnvelopeText): Document {
  if (envelope.signatureVersion !== undefined && !signature) throw new Error('the message is not signed yet')
  const isNotification = envelope.kind === 'Notification'
  const [before, after] = isNotification
    ? notification(envelope, text, signature)
    : confirmation(envelope, signature)
  const between = after === undefined ? undefined : isNotification ? 'leaveQuery' : 'arn'
  return { before: bytesOf(envelope, before), after: bytesOf(envelope, after ?? ''), between }
}

/** Whether the text is an object or array in JSON. A number or a word counts as plain text. */
export function isJsonBody(text: EnvelopeText): boolean {
  text.isJson ??= /^\s*[[{]/.test(text.text) && jsonOf(text.text) !== undefined
  return text.isJson
}

/** Node cuts small buffers from shared ones of 8 KB. A shared buffer lives as long as any piece of it. */
function bytesOf({ lasting }: Envelope, text: string): Buffer {
  if (!lasting) return Buffer.from(text)
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** The message's text for subscribers of the protocol. */
export function textForProtocol(
  { message, structure }: Pick<Message, 'message' | 'structure'>,
  protocol: Protocol,
): string {
  return structure === 'json' ? protocolText(message, protocol) : message
}

/**
 * The string for this protocol, else `default` (checklist 121). Publish has checked the text. A text that is no such
 * object is sent as a whole.
 */
function protocolText(message: string, protocol: Protocol): string {
  const texts: unknown = jsonOf(message)
  if (typeof texts !== 'object' || texts === null) return message
  const own = Object.hasOwn(texts, protocol) ? (texts as Record<string, unknown>)[protocol] : undefined
  if (typeof own === 'string') return own
  const fallback = (texts as Record<string, unknown>).default
  return typeof fallback === 'string' ? fallback : message
}

function notification(
  { message, publicUrl }: Envelope,
  text: string,
  signature: Signature | undefined,
): [string, string] {
  const { topicArn, subject, sequenceNumber } = message
  const link = JSON.stringify(unsubscribeUrl(publicUrl, ''))
  // One template, because this runs for every message. Lists of members took several times as long.
  const before = `{
  "Type" : "Notification",
  "MessageId" : "${shownIdOf(message)}",${sequenceNumber === undefined ? '' : `\n  "SequenceNumber" : "${sequenceNumber}",`}
  "TopicArn" : ${JSON.stringify(topicArn)},${subject === undefined ? '' : `\n  "Subject" : ${JSON.stringify(subject)},`}
  "Message" : ${JSON.stringify(text)},
  "Timestamp" : "${publishedIso(message)}",${signature === undefined ? '' : `\n  ${signatureMembers(signature).join(',\n  ')},`}
  "UnsubscribeURL" : ${link.slice(0, -1)}`
  return [before, `"${attributesMember(message.attributes)}\n}`]
}

function attributesMember(attributes: Record<string, MessageAttribute> | undefined): string {
  const entries = Object.entries(attributes ?? {})
  if (entries.length === 0) return ''
  const lines = entries.map(
    ([name, { type, value }]) =>
      `    ${JSON.stringify(name)} : {"Type":${JSON.stringify(type)},"Value":${JSON.stringify(value)}}`,
  )
  return `,\n  "MessageAttributes" : {\n${lines.join(',\n')}\n  }`
}

/** The document of a confirmation. It has one piece if it names the topic, and two if it names the subscription. */
function confirmation(envelope: Envelope, signature: Signature | undefined): [string] | [string, string] {
  const { message, kind } = envelope
  const members = [
    ...member('Type', kind),
    ...member('MessageId', message.messageId),
    ...member('Token', message.token ?? ''),
    ...member('TopicArn', message.topicArn),
    ...member('Message', confirmationText(envelope, ARN_PLACE)),
    ...member('SubscribeURL', subscribeUrl(envelope)),
    ...member('Timestamp', publishedIso(message)),
    ...(signature ? signatureMembers(signature) : []),
  ]
  const document = `{\n  ${members.join(',\n  ')}\n}`
  const at = document.indexOf(ARN_PLACE)
  return at < 0 ? [document] : [document.slice(0, at), document.slice(at + ARN_PLACE.length)]
}

export function confirmationText({ message, kind }: Envelope, subscriptionArn: string): string {
  return kind === 'SubscriptionConfirmation'
    ? `You have chosen to subscribe to the topic ${message.topicArn}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`
    : `You have chosen to deactivate subscription ${subscriptionArn}.\nTo cancel this operation and restore the subscription, visit the SubscribeURL included in this message.`
}

export function subscribeUrl({ message, publicUrl }: Envelope): string {
  const { topicArn, token = '' } = message
  return `${publicUrl}/?Action=ConfirmSubscription&TopicArn=${topicArn}&Token=${token}`
}

export function publishedIso({ publishedAt }: Message): string {
  return isoOf(publishedAt)
}

function signatureMembers({ version, value, certificateUrl }: Signature): string[] {
  return [
    ...member('SignatureVersion', version),
    ...member('Signature', value),
    ...member('SigningCertURL', certificateUrl),
  ]
}

/** Stands for the subscription's ARN while the document is built. No ARN, token or origin can contain it. */
const ARN_PLACE = '<subscription>'

function member(name: string, value: string): string[] {
  return [`"${name}" : ${JSON.stringify(value)}`]
}
