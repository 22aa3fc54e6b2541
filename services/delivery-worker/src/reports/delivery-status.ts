/**
 * Writes delivery status logs, if attributes of a topic, of a platform application or of text messages request them
 * (checklist 199, 200, 389). Each ended delivery has one record in the log of the process. If OpenTelemetry exports log
 * records, it gets the record too. A crash may lose the record of a delivery that has ended, but never a delivery.
 */
import { hash } from 'node:crypto'
import {
  type AttemptErrorCode,
  type AttemptedApplication,
  type AttemptedText,
  type AttemptResult,
  areNumbers,
  directOwnerOf,
  endpointOf,
  type MessageKind,
  type StatusLog,
} from '@fantail/contracts'
import { textFor } from '@fantail/delivery'
import { failureText, PROTOCOL_TRAITS } from '@fantail/policy'
import { type Logger, withoutCredentials } from '@fantail/runtime'
import { deliveryItemId } from '@fantail/store'
import type { LogRecords } from '@fantail/telemetry'
import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

/** SNS's log group of messages that were published to a phone number. */
const DIRECT_TO_NUMBERS = 'DirectPublishToPhoneNumber'

export interface FinishedDelivery {
  subscription: CompiledSubscription
  context: MessageContext
  delivery: Buffer
  attempts: number
  /** Result of the last attempt; undefined if the delivery expired before another could be made. */
  result: AttemptResult | undefined
}

interface DeliveryStatusOptions {
  log: Pick<Logger, 'info' | 'warn'>
  records: LogRecords
  /** Epoch ms by Redis's clock. */
  now(): number
  random?: () => number
}

export class DeliveryStatus {
  readonly #options: DeliveryStatusOptions
  readonly #random: () => number

  constructor(options: DeliveryStatusOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
  }

  /** Logs a delivery that the endpoint has accepted. */
  delivered(finished: FinishedDelivery): void {
    const { statusLog } = finished.subscription
    if (!statusLog) return
    const share = Math.max(statusLog.share, otherStatusLog(finished)?.share ?? 0)
    if (this.#random() < share && isNotification(finished)) this.#report(finished, true)
  }

  /** Logs a delivery that failed permanently, and was dead-lettered or discarded. */
  failed(finished: FinishedDelivery): void {
    const { statusLog } = finished.subscription
    const wanted = statusLog?.failures || (statusLog && otherStatusLog(finished)?.failures)
    if (wanted && isNotification(finished)) this.#report(finished, false)
  }

  #report(finished: FinishedDelivery, delivered: boolean): void {
    const { log, records } = this.#options
    const severity = delivered ? 'info' : 'warn'
    const body = statusRecord(finished, delivered, this.#options.now())
    const logGroup = logGroupOf(finished, delivered)
    log[severity]({ logGroup, ...body }, 'delivery.status')
    if (!records.on) return
    records.emit({
      event: 'delivery.status',
      severity,
      body,
      attributes: { 'aws.log.group.names': [logGroup] },
    })
  }
}

/** SNS does not log its own confirmation messages to endpoints. */
function isNotification({ context: { message } }: FinishedDelivery): boolean {
  const kind: MessageKind = message.kind ?? 'Notification'
  return kind === 'Notification'
}

function statusRecord(finished: FinishedDelivery, delivered: boolean, now: number) {
  const { subscription, context, delivery, attempts, result } = finished
  const { record, signature, target } = subscription
  const { messageId, topicArn, publishedAt } = context.message
  const { endpoint, reports } = PROTOCOL_TRAITS[record.protocol]
  const destination = endpointOf(record, context.message)
  const { text } = textFor(context.envelopeFor(signature), target.protocol)
  const deliveryId = deliveryItemId(record.id, delivery)
  const statusCode = result && result.kind !== 'misconfigured' ? result.statusCode : undefined
  const handedOverAt = now - (result?.durationMs ?? 0)
  const dwellTimeMs = Math.max(0, Math.round(handedOverAt - publishedAt))
  const notification = {
    messageMD5Sum: hash('md5', text),
    messageId,
    ...(directOwnerOf(topicArn) === undefined && { topicArn }),
    timestamp: new Date(publishedAt).toISOString().replace('T', ' ').replace('Z', ''),
  }
  const status = delivered ? 'SUCCESS' : 'FAILURE'
  const sent = textMessageOf(finished)
  if (sent) {
    const { messageMD5Sum: _, ...ofText } = notification
    return {
      notification: ofText,
      delivery: textDelivery(sent, { destination, dwellTimeMs, result }),
      status,
    }
  }
  return {
    notification,
    delivery: {
      deliveryId,
      destination: endpoint.isUrl ? withoutCredentials(destination) : destination,
      providerResponse:
        (result?.kind === 'failure' && reports.refused?.(result, destination)) ||
        responseText(result, (text) => reports.providerResponse(text, deliveryId)),
      dwellTimeMs,
      attempts,
      ...(statusCode !== undefined && { statusCode }),
    },
    status,
  }
}

/** The text of the endpoint's answer, or the reason why there is no answer. */
function responseText(
  result: AttemptResult | undefined,
  answered: (text: string | undefined) => string,
): string {
  if (!result) return 'the message expired: it is older than its topic keeps messages'
  if (result.kind !== 'response') return failureText(result)
  return answered(result.text)
}

/** Requested by attributes outside of the topic: those of the platform application, or those of text messages. */
function otherStatusLog(finished: FinishedDelivery): StatusLog | undefined {
  return (applicationOf(finished) ?? textMessageOf(finished))?.statusLog
}

/** The text message, if its attributes request delivery status logs. */
function textMessageOf({ result }: FinishedDelivery): AttemptedText | undefined {
  return result && result.kind !== 'misconfigured' ? result.textMessage : undefined
}

/** The platform application, if its attributes request delivery status logs. */
function applicationOf({ result }: FinishedDelivery): AttemptedApplication | undefined {
  return result && result.kind !== 'misconfigured' ? result.application : undefined
}

/**
 * The name of the log group in CloudWatch Logs. It ends in the name of the platform application if its attributes
 * request logs. All messages to phone numbers share one log group. Otherwise the name ends in the name of the topic.
 */
function logGroupOf(finished: FinishedDelivery, delivered: boolean): string {
  const { topicArn } = finished.context.message
  const owner = directOwnerOf(topicArn)
  const arn = applicationOf(finished)?.arn ?? owner ?? topicArn
  const [, , , region = '', account = '', last = arn] = arn.split(':')
  const name = owner !== undefined && areNumbers(owner) ? DIRECT_TO_NUMBERS : last
  return `sns/${region}/${account}/${name}${delivered ? '' : '/Failure'}`
}

const ACCEPTED = 'Message has been accepted by phone carrier'
const UNREACHABLE = 'Phone carrier is currently unreachable/unavailable'
/** SNS's words for failures. */
const WORDS: Partial<Record<AttemptErrorCode, string>> = {
  number_refused: 'Invalid phone number',
  text_refused: 'Message body is invalid',
  outcome_unknown: 'Unknown error attempting to reach phone',
}
/** Details of these failures are SNS's words already. */
const WORDED = new Set<AttemptErrorCode>(['opted_out', 'spend_exceeded'])

interface TextDelivery {
  destination: string
  dwellTimeMs: number
  result: AttemptResult | undefined
}

/** SNS also shows the carrier and its codes. Fantail does not know them. */
function textDelivery(
  { parts, priceUsd, type }: AttemptedText,
  { destination, dwellTimeMs, result }: TextDelivery,
) {
  return {
    numberOfMessageParts: parts,
    destination,
    priceInUSD: priceUsd,
    smsType: type,
    providerResponse: wordsOf(result),
    dwellTimeMs,
  }
}

/** If a provider refuses a message, its own words are shown. */
function wordsOf(result: AttemptResult | undefined): string {
  if (result?.kind === 'response')
    return result.resultClass === 'delivered' ? ACCEPTED : (result.text ?? UNREACHABLE)
  if (result?.kind !== 'failure') return UNREACHABLE
  const { error, detail } = result
  return WORDED.has(error) ? detail : (WORDS[error] ?? UNREACHABLE)
}
