/**
 * The links in delivered messages: `GET /?Action=ConfirmSubscription|Unsubscribe` (sns-semantics §2.3, §2.4). Whoever
 * holds a link may follow it, without credentials; it answers in SNS's XML, errors included.
 */
import { FantailError, isTopicName, parseArn, type SubscriptionRecord } from '@fantail/contracts'
import { z } from 'zod'
import type { ApiDeps } from '../deps.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../http/endpoint.ts'
import { toFantailError } from '../http/errors.ts'
import { publicUrlFor } from '../http/public-url.ts'
import { confirm, unsubscribeByLink } from '../subscriptions/confirmations.ts'

const LinkQuery = z.looseObject({
  Action: z.enum(['ConfirmSubscription', 'Unsubscribe']),
  TopicArn: z.string().optional(),
  Token: z.string().optional(),
  SubscriptionArn: z.string().optional(),
})

const XML = 'text/xml; charset=utf-8'

export function linkRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/',
      tag: 'Links',
      summary: 'Follow the confirm or unsubscribe link of a delivered message',
      description:
        'Answers as Amazon SNS does, errors too: `ErrorResponse` with a code such as `InvalidParameter`.',
      query: LinkQuery,
      queryIs: 'own',
      answers: {
        200: { description: 'Confirmed, restored or unsubscribed', contentType: 'text/xml' },
        400: { description: 'InvalidAction or InvalidParameter', contentType: 'text/xml' },
      },
      errors: [],
      handle: (call) => follow(deps, call),
    }),
  ]
}

/** A refusal with SNS's own code. */
class LinkError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const parameter = (message: string) => new LinkError(400, 'InvalidParameter', `Invalid parameter: ${message}`)

async function follow(deps: ApiDeps, call: Call): Promise<Answer> {
  const query = new URLSearchParams(call.request.url.split('?')[1] ?? '')
  try {
    return xml(200, await act(deps, call, query), call.requestId)
  } catch (error) {
    return refusal(deps, error, call.requestId)
  }
}

async function act(deps: ApiDeps, call: Call, query: URLSearchParams): Promise<string> {
  const action = query.get('Action')
  if (action === 'ConfirmSubscription') {
    const { arn } = await confirmByLink(deps, query)
    deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.confirmed')
    return answerText(action, call.requestId, `<SubscriptionArn>${escapeXml(arn)}</SubscriptionArn>`)
  }
  if (action === 'Unsubscribe') {
    const arn = await unsubscribe(deps, call, query.get('SubscriptionArn'))
    deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.unsubscribed')
    return answerText(action, call.requestId)
  }
  if (action === null)
    throw new LinkError(400, 'MissingAction', 'The request must contain the parameter Action.')
  throw new LinkError(400, 'InvalidAction', `The action ${action} is not valid for this endpoint.`)
}

async function confirmByLink(deps: ApiDeps, query: URLSearchParams): Promise<SubscriptionRecord> {
  const topicArn = query.get('TopicArn') ?? ''
  const topic = parseArn(topicArn)
  const { region } = deps.settings.arn
  const valid = topic?.service === 'sns' && topic.subscriptionId === undefined && topic.region === region
  if (!valid || !isTopicName(topic.name)) throw parameter('Topic')
  const token = query.get('Token') ?? ''
  const record = /^[0-9a-f]+$/.test(token) ? await deps.subscriptions.findByToken(token) : null
  const confirmed = record && (await confirm(deps, record, token))
  if (!confirmed) throw parameter('Token')
  deps.topicCache.forget(confirmed.topicArn)
  return confirmed
}

/** Also when it is gone already: the link's holder cannot know. */
async function unsubscribe(deps: ApiDeps, call: Call, arn: string | null): Promise<string> {
  const parts = (arn ?? '').split(':').length
  if (arn === null || arn === '') throw parameter('SubscriptionArn Reason: no value for required parameter')
  if (parts < 6) throw parameter(`SubscriptionArn Reason: An ARN must have at least 6 elements, not ${parts}`)
  const id = parseArn(arn)?.subscriptionId
  if (id === undefined) throw parameter('SubscriptionId')
  const record = await deps.subscriptions.get(id)
  if (record && record.arn === arn && !record.unsubscribed) {
    await unsubscribeByLink(deps, record, publicUrlFor(deps.settings, call.request))
    deps.topicCache.forget(record.topicArn)
  }
  return arn
}

const NAMESPACE = 'http://sns.amazonaws.com/doc/2010-03-31/'

function answerText(action: string, requestId: string, result?: string): string {
  const inner = result === undefined ? '' : `<${action}Result>${result}</${action}Result>`
  const metadata = `<ResponseMetadata><RequestId>${escapeXml(requestId)}</RequestId></ResponseMetadata>`
  return `<${action}Response xmlns="${NAMESPACE}">${inner}${metadata}</${action}Response>`
}

function refusal(deps: ApiDeps, thrown: unknown, requestId: string): Answer {
  const error = thrown instanceof LinkError ? thrown : linkErrorOf(deps, thrown, requestId)
  const type = error.status < 500 ? 'Sender' : 'Receiver'
  const inner = `<Type>${type}</Type><Code>${error.code}</Code><Message>${escapeXml(error.message)}</Message>`
  const text = `<ErrorResponse xmlns="${NAMESPACE}"><Error>${inner}</Error><RequestId>${escapeXml(requestId)}</RequestId></ErrorResponse>`
  const answer = xml(error.status, text, requestId)
  return error.status === 503 ? { ...answer, headers: { ...answer.headers, 'Retry-After': '1' } } : answer
}

function linkErrorOf(deps: ApiDeps, thrown: unknown, requestId: string): LinkError {
  const error = toFantailError(thrown)
  if (error instanceof FantailError && error.status === 404) return parameter('Token')
  if (error.status < 500) return new LinkError(error.status, 'InvalidParameter', error.message)
  if (error.status === 503) return new LinkError(503, 'ServiceUnavailable', error.message)
  deps.log.error({ requestId, err: error.cause }, 'request.failed')
  return new LinkError(500, 'InternalError', 'something went wrong on our side')
}

function xml(status: number, text: string, requestId: string): Answer {
  return { status, text, headers: { 'Content-Type': XML, 'x-amzn-RequestId': requestId } }
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}
/** What XML 1.0 cannot hold at all. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function escapeXml(text: string): string {
  return text.replace(UNWRITABLE, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
