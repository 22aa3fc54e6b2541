/**
 * Delivery status logging, if a topic's feedback attributes request it (checklist 199, 200). Each ended delivery gives
 * one record, to the process's log and, if log records are exported, to OpenTelemetry. A crash between the end and its
 * record loses the record, never the delivery.
 */
import { hash } from 'node:crypto'
import { type AttemptResult, type MessageKind, parseArn } from '@fantail/contracts'
import { textFor } from '@fantail/delivery'
import { failureText, PROTOCOL_TRAITS } from '@fantail/policy'
import { type Logger, withoutCredentials } from '@fantail/runtime'
import { deliveryItemId } from '@fantail/store'
import type { LogRecords } from '@fantail/telemetry'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'

/** @limit Bytes of an answer that a delivery status log shows. Past it: the text is cut. */
export const PROVIDER_RESPONSE_BYTES_MAX = 1_024

export interface FinishedDelivery {
  subscription: CompiledSubscription
  message: MessageContext
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

  /** The endpoint took it. */
  delivered(finished: FinishedDelivery): void {
    const { feedback } = finished.subscription
    if (feedback && this.#random() < feedback.share && isNotification(finished)) this.#report(finished, true)
  }

  /** The delivery failed for good. It was dead-lettered or discarded. */
  failed(finished: FinishedDelivery): void {
    if (finished.subscription.feedback?.failures && isNotification(finished)) this.#report(finished, false)
  }

  #report(finished: FinishedDelivery, delivered: boolean): void {
    const { log, records } = this.#options
    const severity = delivered ? 'info' : 'warn'
    const body = statusRecord(finished, delivered, this.#options.now())
    const logGroup = logGroupOf(body.notification.topicArn, delivered)
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
function isNotification({ message: { message } }: FinishedDelivery): boolean {
  const kind: MessageKind = message.kind ?? 'Notification'
  return kind === 'Notification'
}

function statusRecord(finished: FinishedDelivery, delivered: boolean, now: number) {
  const { subscription, message, delivery, attempts, result } = finished
  const { record, signature, target } = subscription
  const { messageId, topicArn, publishedAt } = message.message
  const { endpoint, reports } = PROTOCOL_TRAITS[record.protocol]
  const { text } = textFor(message.envelopeFor(signature), target.protocol)
  const deliveryId = deliveryItemId(record.id, delivery)
  const statusCode = result && result.kind !== 'misconfigured' ? result.statusCode : undefined
  const handedOverAt = now - (result?.durationMs ?? 0)
  return {
    notification: {
      messageMD5Sum: hash('md5', text),
      messageId,
      topicArn,
      timestamp: new Date(publishedAt).toISOString().replace('T', ' ').replace('Z', ''),
    },
    delivery: {
      deliveryId,
      destination: endpoint.isUrl ? withoutCredentials(record.endpoint) : record.endpoint,
      providerResponse:
        (result?.kind === 'failure' && reports.refused?.(result, record.endpoint)) ||
        responseText(result, (text) => reports.providerResponse(text, deliveryId)),
      dwellTimeMs: Math.max(0, Math.round(handedOverAt - publishedAt)),
      attempts,
      ...(statusCode !== undefined && { statusCode }),
    },
    status: delivered ? 'SUCCESS' : 'FAILURE',
  }
}

/** The endpoint's answer, or why there is none. */
function responseText(
  result: AttemptResult | undefined,
  answered: (text: string | undefined) => string,
): string {
  if (!result) return 'the message expired: it is older than its topic keeps messages'
  if (result.kind !== 'response') return failureText(result)
  return answered(result.text)
}

/** The name in CloudWatch Logs. */
function logGroupOf(topicArn: string, delivered: boolean): string {
  const { region, account, name } = parseArn(topicArn) ?? { region: '', account: '', name: topicArn }
  return `sns/${region}/${account}/${name}${delivered ? '' : '/Failure'}`
}
