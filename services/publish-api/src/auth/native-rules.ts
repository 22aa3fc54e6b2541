/**
 * The rights that each route of the REST API needs: a scope, and permission for its action on each named thing. The API
 * does not start if a route has no rule, so none can be forgotten.
 */
import { needScope, type Target } from '@fantail/access'
import {
  areNumbers,
  directOwnerOf,
  isProtocol,
  parseArn,
  parseMessageId,
  resolveQueue,
  resolveTopic,
  withoutSubscription,
} from '@fantail/contracts'
import { readEndpoint } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, NO_CONTENT } from '../http/endpoint.ts'
import { invalid, Unseen } from '../http/error-answers.ts'
import { applicationNamed, attributesIn, eventTopicsIn } from '../mobile-push/application-settings.ts'
import { unknownSubscription } from '../redrives/filter-input.ts'
import { PORTAL_RULES } from './portal-rules.ts'
import type { RouteRule } from './route-rule.ts'
import { directTargets, endpointTargets, functionTargets, originsOf, subscribing } from './targets.ts'

type Body = Record<string, unknown>

const READ = ['read'] as const
const MANAGE = ['manage'] as const
const CONSUME = ['consume', 'manage'] as const
const REDRIVE = ['redrive'] as const
const SMS = ['sms'] as const
const PUBLIC: RouteRule = { need: 'public' }

const onTopic =
  (action: string) =>
  ({ params }: Call, { settings }: ApiDeps): Target[] => [
    { action: `SNS:${action}`, arn: resolveTopic(params.topic ?? '', settings.arn) },
  ]

/** A key for some names may ask for notices about these names only. */
const topicSettings = (call: Call, deps: ApiDeps): Target[] => {
  const targets = onTopic('SetTopicAttributes')(call, deps)
  const { notices } = (call.body ?? {}) as Body
  if (typeof notices !== 'string') return targets
  const topicArn = targets[0]?.arn ?? ''
  const arn = topicArn.slice(0, topicArn.lastIndexOf(':') + 1) + notices
  return [...targets, { action: 'SNS:GetTopicAttributes', arn, byName: true }]
}

const onQueue =
  (action: string) =>
  (call: Call, { settings }: ApiDeps): Target[] => [
    { action: `SQS:${action}`, arn: resolveQueue(call.params.queue ?? '', settings.arn) },
  ]

/**
 * The topic of the subscription. The ARN in the path cannot be trusted, because the caller wrote it.
 * `unknown`: the route's answer for an unknown id, if that is no 404.
 */
const onSubscription =
  (action: string, unknown?: Answer) =>
  async ({ params, body }: Call, deps: ApiDeps): Promise<Target[]> => {
    const given = params.id
    if (given === undefined) throw new Error('the path of this rule must name its subscription as {id}')
    const id = parseArn(given)?.subscriptionId ?? given
    const place = parseMessageId(id) ? await deps.subscriptions.locate(id) : null
    if (!place) return []
    const hidden = { error: new Unseen('subscription', unknown), sees: 'SNS:GetSubscriptionAttributes' }
    const subscription = { action: `SNS:${action}`, arn: place.topicArn, hidden }
    return [subscription, ...(await movedTo(body, id, { deps, hidden })), ...deadLetters(body, deps)]
  }

/** The rights to move a subscription to another endpoint. If it cannot be read, the route refuses it later. */
async function movedTo(
  body: unknown,
  id: string,
  { deps, hidden }: { deps: ApiDeps; hidden: NonNullable<Target['hidden']> },
): Promise<Target[]> {
  const { endpoint } = (body ?? {}) as Body
  if (typeof endpoint !== 'string') return []
  const record = await deps.subscriptions.get(id)
  if (!record) return []
  const address = readEndpoint(endpoint, record.protocol, deps.settings.arn)
  if ('path' in address) return []
  const asked = { ...subscribing(record.topicArn, { ...address, endpoint }), hidden }
  return [asked, ...endpointTargets(address)]
}

const onMessage =
  (action: string) =>
  async ({ params, caller }: Call, { outcomes, settings, kept: rings }: ApiDeps): Promise<Target[]> => {
    const id = params.messageId ?? ''
    const found = parseMessageId(id) ? await outcomes.message(id) : null
    const error = new Unseen('message')
    const owner = found && directOwnerOf(found.topicArn)
    if (owner) {
      // Phone numbers have no topic names, so keys with prefixes do not see their messages.
      if (areNumbers(owner) && caller && caller.prefixes.length > 0) throw error
      const seen = { action: 'SNS:GetPlatformApplicationAttributes', arn: owner }
      return [{ ...seen, hidden: { error } }]
    }
    if (found) {
      const hidden = { error, sees: 'SNS:GetTopicAttributes' }
      return [{ action: `SNS:${action}`, arn: found.topicArn, hidden }]
    }
    const kept = parseMessageId(id) ? await rings.topicOf(id) : null
    if (kept !== null)
      return [{ action: `SNS:${action}`, arn: kept, hidden: { error, sees: 'SNS:GetTopicAttributes' } }]
    // The message may be in the quarantine, where its topic can be unknown. A caller who may see the quarantine may
    // also see the deliveries of its messages.
    if (caller?.account === settings.arn.account && caller.prefixes.length === 0) return []
    throw error
  }

const LISTS_TASKS = 'SQS:ListMessageMoveTasks'
/** A resend fills a lane of a subscription, as `retry` does, so it needs the same right on the topic. */
const ON_RESEND = {
  StartMessageMoveTask: 'SNS:SetSubscriptionAttributes',
  PurgeQueue: 'SNS:SetSubscriptionAttributes',
  ListMessageMoveTasks: 'SNS:GetSubscriptionAttributes',
}

/** Whether the source of a task is a subscription, which gets kept messages. */
const isResend = (source: string) => parseArn(source)?.subscriptionId !== undefined

const onRedrive =
  (action: keyof typeof ON_RESEND) =>
  async ({ params }: Call, { redrives }: ApiDeps): Promise<Target[]> => {
    const task = await redrives.getReadable(params.id ?? '')
    if (!task) return []
    const error = new Unseen('redrive')
    if (!isResend(task.source))
      return [{ action: `SQS:${action}`, arn: task.source, hidden: { error, sees: LISTS_TASKS } }]
    const arn = withoutSubscription(task.source)
    return [{ action: ON_RESEND[action], arn, hidden: { error, sees: ON_RESEND.ListMessageMoveTasks } }]
  }

/** The scope that started the task may change it. */
async function changedTask(call: Call, deps: ApiDeps): Promise<Target[]> {
  const { action = 'redrive' } = (await deps.redrives.getReadable(call.params.id ?? '')) ?? {}
  if (call.caller) needScope(call.caller, STARTED_BY[action])
  return onRedrive(action === 'purge' ? 'PurgeQueue' : 'StartMessageMoveTask')(call, deps)
}

const STARTED_BY = { redrive: REDRIVE, purge: MANAGE, resend: ['redrive', 'manage'] } as const

function newSubscription(call: Call, deps: ApiDeps): Target[] {
  const { endpoint: given, protocol: named } = call.body as Body
  const address = readEndpoint(String(given), isProtocol(named) ? named : undefined, deps.settings.arn)
  if ('path' in address) throw invalid([address])
  const topic = resolveTopic(call.params.topic ?? '', deps.settings.arn)
  const asked = subscribing(topic, { ...address, endpoint: String(given) })
  return [asked, ...endpointTargets(address), ...deadLetters(call.body, deps)]
}

/** A caller who names a queue to which messages will go must be allowed to send to it. */
function sendingTo(reference: unknown): Target[] {
  const arn = typeof reference === 'string' ? parseArn(reference) : undefined
  return arn?.service === 'sqs' ? [{ action: 'SQS:SendMessage', arn: String(reference) }] : []
}

function deadLetters(body: unknown, { settings }: ApiDeps): Target[] {
  const { redrivePolicy } = (body ?? {}) as Body
  const { deadLetterTargetArn: given, createQueue } = (redrivePolicy ?? {}) as Body
  if (typeof given !== 'string') return []
  const arn = resolveQueue(given, settings.arn, 'redrivePolicy.deadLetterTargetArn')
  return [...sendingTo(arn), ...(createQueue === true ? [{ action: 'SQS:CreateQueue', arn }] : [])]
}

/** Settings of a consumer that pushes to a function. */
const pushConsumerSettings = (call: Call, deps: ApiDeps): Target[] => {
  const { url } = (call.body ?? {}) as Body
  const named = typeof url === 'string' ? functionTargets(url) : []
  return [...onQueue('SetQueueAttributes')(call, deps), ...named]
}

const queueSettings = (call: Call, deps: ApiDeps): Target[] => [
  ...onQueue('SetQueueAttributes')(call, deps),
  ...deadLetters(call.body, deps),
]

async function newRedrive({ body, caller }: Call, deps: ApiDeps): Promise<Target[]> {
  const { source, destination, filter } = body as Body
  const { arn: place } = deps.settings
  const from = { action: 'SQS:StartMessageMoveTask', arn: resolveQueue(String(source), place, 'source') }
  const filtered = await onFilter((filter as Body | undefined)?.subscription, 'filter.subscription', deps)
  if (typeof destination === 'string')
    return [from, ...filtered, ...sendingTo(resolveQueue(destination, place, 'destination'))]
  const isBound = caller !== null && caller.prefixes.length > 0
  return [from, ...filtered, ...(isBound ? await originsOf(deps, from.arn) : [])]
}

/**
 * A message that is sent again may be edited. So the right to publish is needed too, and the right to read its text.
 */
async function sentAgain(call: Call, deps: ApiDeps): Promise<Target[]> {
  const { caller, params } = call
  if (caller) for (const scope of ['publish', 'bodies'] as const) needScope(caller, [scope])
  const [from] = onQueue('StartMessageMoveTask')(call, deps)
  if (!from) return []
  const source = [from, { ...from, action: 'SQS:ReceiveMessage' }]
  const { destination } = (call.body ?? {}) as Body
  if (typeof destination === 'string')
    return [...source, ...sendingTo(resolveQueue(destination, deps.settings.arn, 'destination'))]
  const item = await deps.queues.message(from.arn, params.messageId ?? '')
  const { deadLetter, deadLetterSourceArn } = item ?? {}
  if (deadLetterSourceArn !== undefined) return [...source, ...sendingTo(deadLetterSourceArn)]
  return [...source, ...(deadLetter ? [{ action: 'SNS:Publish', arn: deadLetter.topicArn }] : [])]
}

/**
 * The subscription that a filter names. If it is named by id, the answer shows its ARN, so the right is checked. If it
 * is named by ARN, the caller knows the ARN already.
 */
async function onFilter(given: unknown, path: string, { subscriptions }: ApiDeps): Promise<Target[]> {
  const record = typeof given === 'string' && parseMessageId(given) ? await subscriptions.get(given) : null
  if (!record) return []
  const hidden = { error: unknownSubscription(path) }
  return [{ action: 'SNS:GetSubscriptionAttributes', arn: record.topicArn, hidden }]
}

/** A queue, and the subscription in the query's filter of its dead letters. */
const onLetters = (action: string) => async (call: Call, deps: ApiDeps) => [
  ...onQueue(action)(call, deps),
  ...(await onFilter((call.query as Body).subscription, 'subscription', deps)),
]

async function purged(call: Call, deps: ApiDeps): Promise<Target[]> {
  const { filter } = (call.body ?? {}) as { filter?: Body }
  const filtered = await onFilter(filter?.subscription, 'filter.subscription', deps)
  return [...onQueue('PurgeQueue')(call, deps), ...filtered]
}

function named(action: string, { topic }: Body, { settings }: ApiDeps): Target[] {
  return typeof topic === 'string' ? [{ action, arn: resolveTopic(topic, settings.arn) }] : []
}

/** Without this check, an empty list would show whether the topic has subscriptions. */
const listedOfTopic = ({ query }: Call, deps: ApiDeps) =>
  named('SNS:ListSubscriptionsByTopic', query as Body, deps)

/**
 * The topic or subscription whose events a listener names. Without one, the listener gets the events of all its topics.
 */
async function listenedTo(call: Call, deps: ApiDeps): Promise<Target[]> {
  const { subscription } = call.query as Body
  if (typeof subscription !== 'string') return listedOfTopic(call, deps)
  const params = { ...call.params, id: subscription }
  const shown = await onSubscription('GetSubscriptionAttributes')({ ...call, params }, deps)
  return [...listedOfTopic(call, deps), ...shown]
}

/** A portal link grants only subscriptions that its maker may change. */
async function linkedTo(call: Call, deps: ApiDeps): Promise<Target[]> {
  const { subscriptions = [] } = call.body as { subscriptions?: string[] }
  const found: Target[] = []
  for (const id of subscriptions) {
    const targets = await onSubscription('SetSubscriptionAttributes')(
      { ...call, params: { id }, body: {} },
      deps,
    )
    if (targets.length === 0) throw new Unseen('subscription')
    found.push(...targets)
  }
  return found
}

/** The same for one source. */
function listedOfSource({ query }: Call, { settings }: ApiDeps): Target[] {
  const { source } = query as Body
  if (typeof source !== 'string') return []
  if (isResend(source)) return [{ action: ON_RESEND.ListMessageMoveTasks, arn: withoutSubscription(source) }]
  return [{ action: LISTS_TASKS, arn: resolveQueue(source, settings.arn, 'source') }]
}

/** The topic or subscription whose statistics are asked for. */
function counted(call: Call, deps: ApiDeps): Target[] | Promise<Target[]> {
  const { topic, subscription } = call.query as Body
  if (topic !== undefined || typeof subscription !== 'string')
    return named('SNS:GetTopicAttributes', { topic }, deps)
  return onSubscription('GetSubscriptionAttributes')({ ...call, params: { id: subscription } }, deps)
}

function publishedTo({ body }: Call): Target[] {
  const { phoneNumber: PhoneNumber, targetArn: TargetArn } = (body ?? {}) as Body
  return directTargets({ PhoneNumber, TargetArn })
}

/** The topic that a search names. */
const queried = ({ query }: Call, deps: ApiDeps) => named('SNS:GetTopicAttributes', query as Body, deps)

const previewed = ({ body }: Call, deps: ApiDeps) => named('SNS:GetTopicAttributes', body as Body, deps)

const onApplication =
  (action: string) =>
  (call: Call, deps: ApiDeps): Target[] => [
    { action: `SNS:${action}`, arn: applicationNamed(call, deps).arn },
  ]

/** A caller who names the topic of an event must be allowed to publish to it. */
const applicationSettings = (call: Call, deps: ApiDeps): Target[] => [
  ...onApplication('SetPlatformApplicationAttributes')(call, deps),
  ...eventTopicsIn(attributesIn((call.body ?? {}) as Parameters<typeof attributesIn>[0])).map((arn) => ({
    action: 'SNS:Publish',
    arn,
  })),
]

const managing = (targets: NonNullable<RouteRule['targets']>): RouteRule => ({
  need: MANAGE,
  change: true,
  targets,
})
const reading = (targets: NonNullable<RouteRule['targets']>): RouteRule => ({ need: READ, targets })
const setting = managing(onSubscription('SetSubscriptionAttributes'))
const redriving: RouteRule = { need: ['redrive', 'manage'], change: true, targets: changedTask }
const application = '/v1/platform-applications/{platform}/{name}'
const consumers = '/v1/queues/{queue}/consumers'
const eventTypes = '/v1/topics/{topic}/event-types'

const RULES: Record<string, RouteRule> = {
  ...PORTAL_RULES,
  'POST /v1/topics/{topic}/messages': { need: ['publish'], targets: onTopic('Publish') },
  'PUT /v1/topics/{topic}': managing(topicSettings),
  'GET /v1/topics': { need: READ, list: { member: 'topics', arn: 'arn' } },
  'GET /v1/topics/{topic}': reading(onTopic('GetTopicAttributes')),
  'PATCH /v1/topics/{topic}': managing(topicSettings),
  'DELETE /v1/topics/{topic}': managing(onTopic('DeleteTopic')),

  'POST /v1/event-types/check': { need: MANAGE },
  [`GET ${eventTypes}`]: reading(onTopic('GetTopicAttributes')),
  [`PUT ${eventTypes}/{name}`]: managing(onTopic('SetTopicAttributes')),
  [`GET ${eventTypes}/{name}`]: reading(onTopic('GetTopicAttributes')),
  [`DELETE ${eventTypes}/{name}`]: managing(onTopic('SetTopicAttributes')),
  'GET /v1/topics/{topic}/openapi': reading(onTopic('GetTopicAttributes')),
  'POST /v1/topics/{topic}/openapi': managing(onTopic('SetTopicAttributes')),

  'POST /v1/topics/{topic}/subscriptions': managing(newSubscription),
  'GET /v1/topics/{topic}/subscriptions': reading(onTopic('ListSubscriptionsByTopic')),
  'GET /v1/subscriptions': {
    ...reading(listedOfTopic),
    list: { member: 'subscriptions', arn: 'topicArn' },
  },
  'POST /v1/endpoints/check': { need: MANAGE },
  'GET /v1/subscriptions/{id}': reading(onSubscription('GetSubscriptionAttributes')),
  'PATCH /v1/subscriptions/{id}': setting,
  'DELETE /v1/subscriptions/{id}': managing(onSubscription('Unsubscribe', NO_CONTENT)),
  'POST /v1/subscriptions/{id}/pause': setting,
  'POST /v1/subscriptions/{id}/resume': setting,
  'POST /v1/subscriptions/{id}/confirm': setting,
  'POST /v1/subscriptions/{id}/send-confirmation': setting,
  'POST /v1/subscriptions/{id}/retry': { ...setting, need: ['redrive', 'manage'] },
  'POST /v1/subscriptions/{id}/resend': { ...setting, need: STARTED_BY.resend },
  'POST /v1/subscriptions/{id}/purge': setting,
  'POST /v1/subscriptions/{id}/set-aside': setting,
  'POST /v1/subscriptions/{id}/test': setting,
  'GET /v1/subscriptions/{id}/attempts': reading(onSubscription('GetSubscriptionAttributes')),
  'POST /v1/subscriptions/{id}/webhook-keys': setting,
  'GET /v1/subscriptions/{id}/webhook-keys': reading(onSubscription('GetSubscriptionAttributes')),
  'DELETE /v1/subscriptions/{id}/webhook-keys': setting,

  // The handlers check the scope of the action, and leave out what a key may not change or see.
  'POST /v1/bulk-plans': { need: ['redrive', 'manage'] },
  'POST /v1/bulk': { need: ['redrive', 'manage'], change: true },
  'GET /v1/bulk': { need: ['read', 'redrive', 'manage'] },
  'GET /v1/bulk/{id}': { need: ['read', 'redrive', 'manage'] },
  'POST /v1/bulk/{id}/cancel': { need: ['redrive', 'manage'], change: true },
  'POST /v1/bulk/{id}/undo': { need: ['redrive', 'manage'], change: true },

  // The handler itself leaves out lanes of other keys, because the answer contains sums.
  'GET /v1/lanes': reading(listedOfTopic),
  'GET /v1/overview': { need: READ },
  'GET /v1/stats': reading(counted),
  // The handlers themselves leave out what the key may not see, because a search continues until its page is full.
  'GET /v1/messages': { ...reading(listedOfTopic), asks: true },
  'GET /v1/search/kept-messages': { ...reading(queried), asks: true },
  'GET /v1/search/dead-letters': { ...reading(queried), asks: true },
  'GET /v1/search/names': { need: READ },

  'POST /v1/delivery-policies/preview': { need: 'any', targets: previewed },
  'POST /v1/filter-policies/test': { need: ['read', 'manage'] },
  'POST /v1/filter-policies/replay': reading(previewed),
  'POST /v1/messages': { need: ['publish'], targets: publishedTo },
  'GET /v1/messages/{messageId}': reading(onMessage('GetTopicAttributes')),
  'GET /v1/messages/{messageId}/body': reading(onMessage('GetTopicAttributes')),
  'POST /v1/messages/{messageId}/resend': {
    need: STARTED_BY.resend,
    change: true,
    targets: onMessage('SetSubscriptionAttributes'),
  },
  'GET /v1/events': reading(listenedTo),
  // The route shows every subscription, like this operation.
  'GET /v1/messages/{messageId}/deliveries': reading(onMessage('ListSubscriptionsByTopic')),

  // The route reads the subscription's attempts, and shows those of the message.
  'GET /v1/messages/{messageId}/deliveries/{id}/attempts': reading(
    onSubscription('GetSubscriptionAttributes'),
  ),

  'PUT /v1/queues/{queue}': managing(queueSettings),
  'GET /v1/queues': { need: READ, list: { member: 'queues', arn: 'arn', ofTopic: 'deadLettersOf' } },
  'GET /v1/queues/{queue}': reading(onQueue('GetQueueAttributes')),
  'PATCH /v1/queues/{queue}': managing(queueSettings),
  'DELETE /v1/queues/{queue}': managing(onQueue('DeleteQueue')),
  'POST /v1/queues/{queue}/messages': { need: ['publish'], targets: onQueue('SendMessage') },
  'POST /v1/queues/{queue}/receive': { need: CONSUME, targets: onQueue('ReceiveMessage') },
  'POST /v1/queues/{queue}/ack': { need: CONSUME, targets: onQueue('DeleteMessage') },
  'POST /v1/queues/{queue}/visibility': { need: CONSUME, targets: onQueue('ChangeMessageVisibility') },
  'POST /v1/queues/{queue}/purge': managing(purged),
  'GET /v1/queues/{queue}/messages': reading(onLetters('ReceiveMessage')),
  'GET /v1/queues/{queue}/messages/{messageId}': reading(onQueue('ReceiveMessage')),
  'DELETE /v1/queues/{queue}/messages/{messageId}': managing(onQueue('DeleteMessage')),
  'GET /v1/queues/{queue}/dead-letters': reading(onLetters('GetQueueAttributes')),
  'POST /v1/queues/{queue}/messages/{messageId}/redrive': { need: REDRIVE, change: true, targets: sentAgain },
  [`GET ${consumers}`]: reading(onQueue('GetQueueAttributes')),
  [`GET ${consumers}/{consumer}`]: reading(onQueue('GetQueueAttributes')),
  [`PUT ${consumers}/{consumer}`]: managing(pushConsumerSettings),
  [`PATCH ${consumers}/{consumer}`]: managing(pushConsumerSettings),
  [`DELETE ${consumers}/{consumer}`]: managing(onQueue('SetQueueAttributes')),

  'POST /v1/redrives': { need: REDRIVE, change: true, targets: newRedrive },
  'GET /v1/redrives': {
    need: ['read', 'redrive'],
    targets: listedOfSource,
    list: { member: 'redrives', arn: 'source' },
  },
  'GET /v1/redrives/{id}': { need: ['read', 'redrive'], targets: onRedrive('ListMessageMoveTasks') },
  'PATCH /v1/redrives/{id}': redriving,
  'POST /v1/redrives/{id}/cancel': redriving,
  'POST /v1/redrives/{id}/pause': redriving,
  'POST /v1/redrives/{id}/resume': redriving,

  'POST /v1/keys': { need: MANAGE, change: true, wholeAccount: true },
  'GET /v1/keys': { need: MANAGE, wholeAccount: true },
  'GET /v1/keys/{key}': { need: MANAGE, wholeAccount: true },
  'DELETE /v1/keys/{key}': { need: MANAGE, change: true, wholeAccount: true },

  // The handlers compare the caller's prefixes with those of the quotas.
  'GET /v1/quotas': { need: READ },
  'GET /v1/quotas/{prefix}': { need: READ },
  'PUT /v1/quotas/{prefix}': { need: MANAGE, change: true, wholeAccount: true },
  'DELETE /v1/quotas/{prefix}': { need: MANAGE, change: true, wholeAccount: true },

  // The handler itself leaves out lines of others, because a search continues until its page is full.
  'GET /v1/audit': { need: MANAGE },

  // The handler checks the given key itself, and writes the line of the audit log.
  'POST /v1/session': { need: 'public', samePage: true },
  'GET /v1/session': { need: 'any', sitesAlone: true },
  'DELETE /v1/session': { need: 'any', change: true },

  'GET /v1/sessions': { need: MANAGE, wholeAccount: true },
  'DELETE /v1/sessions/{session}': { need: MANAGE, change: true, wholeAccount: true },
  'POST /v1/portal-links': managing(linkedTo),
  // The token in the body is the right to use the link.
  'POST /v1/portal/session': { need: 'public', samePage: true, change: true },

  'GET /v1/platform-applications': { need: READ, list: { member: 'applications', arn: 'arn' } },
  [`PUT ${application}`]: managing(applicationSettings),
  [`GET ${application}`]: reading(onApplication('GetPlatformApplicationAttributes')),
  [`DELETE ${application}`]: managing(onApplication('DeletePlatformApplication')),
  [`GET ${application}/endpoints`]: reading(onApplication('ListEndpointsByPlatformApplication')),
  [`POST ${application}/endpoints`]: managing(onApplication('CreatePlatformEndpoint')),
  [`GET ${application}/endpoints/{id}`]: reading(onApplication('GetEndpointAttributes')),
  [`PATCH ${application}/endpoints/{id}`]: managing(onApplication('SetEndpointAttributes')),
  [`DELETE ${application}/endpoints/{id}`]: managing(onApplication('DeleteEndpoint')),

  // All accounts share one list of addresses, so only the operator of the server may change it.
  'GET /v1/email/suppressions': { need: MANAGE, wholeServer: true },
  'PUT /v1/email/suppressions/{address}': { need: MANAGE, change: true, wholeServer: true },
  'DELETE /v1/email/suppressions/{address}': { need: MANAGE, change: true, wholeServer: true },
  'POST /v1/email/bounces': { need: MANAGE, change: true, wholeServer: true },

  // All accounts share the provider, the opt-out list and the money spent.
  'GET /v1/sms': { need: SMS, wholeServer: true },
  'PATCH /v1/sms': { need: SMS, change: true, wholeServer: true },
  'GET /v1/sms/opt-outs': { need: SMS, wholeServer: true },
  'GET /v1/sms/opt-outs/{number}': { need: SMS, wholeServer: true },
  'PUT /v1/sms/opt-outs/{number}': { need: SMS, change: true, wholeServer: true },
  'DELETE /v1/sms/opt-outs/{number}': { need: SMS, change: true, wholeServer: true },

  // Raw bytes may belong to any account, so only the server's operator may see them.
  'GET /v1/quarantine': { need: MANAGE, wholeServer: true },
  'GET /v1/quarantine/{id}': { need: MANAGE, wholeServer: true },
  'POST /v1/quarantine/{id}/put-back': { need: MANAGE, change: true, wholeServer: true },
  'DELETE /v1/quarantine/{id}': { need: MANAGE, change: true, wholeServer: true },

  // Host names concern only the server's operator.
  'GET /v1/services': { need: READ, wholeServer: true },
  // Only stacks of tests have it (FANTAIL_TIME_TRAVEL).
  'POST /v1/time/advance': { need: MANAGE, change: true, wholeServer: true },

  'GET /healthz': PUBLIC,
  'GET /readyz': PUBLIC,
  'GET /metrics': { need: READ, wholeServer: true, isMetrics: true },
  'GET /openapi.json': PUBLIC,
  'GET /docs': PUBLIC,
  // Only static files. Other sites may link to them, but cannot read them.
  'GET /portal': PUBLIC,
  'GET /portal/': PUBLIC,
  'GET /portal/assets/{file}': PUBLIC,
  'GET /console': PUBLIC,
  'GET /console/': PUBLIC,
  'GET /console/assets/{file}': PUBLIC,
  'GET /console/{page}': PUBLIC,
  // The token in the link identifies the subscription.
  'GET /confirmation.html': PUBLIC,
  'POST /confirmation.html': PUBLIC,
  'GET /unsubscribe.html': PUBLIC,
  'POST /unsubscribe.html': PUBLIC,
  'GET /_assets/docs.js': PUBLIC,
  'GET /_assets/scalar.js': PUBLIC,
  'GET /SimpleNotificationService-{name}.pem': PUBLIC,
  'POST /': { need: 'own' },
  'GET /': { need: 'own' },
  'POST /{account}/{queue}': { need: 'own' },
  'GET /{account}/{queue}': { need: 'own' },
}

/** Throws if the route has no rule. */
export function ruleOf({ method, path }: Pick<Endpoint, 'method' | 'path'>): RouteRule {
  const route = `${method} ${path}`
  const rule = Object.hasOwn(RULES, route) ? RULES[route] : undefined
  if (rule) return rule
  throw new Error(`auth/native-rules.ts has no rule for ${route}`)
}
