/**
 * Routes of a queue's push consumers: webhooks or functions to which the delivery worker pushes the queue's messages.
 */
import {
  type ErrorCode,
  FantailError,
  isFifoName,
  PUSH_CONSUMER_FIFO_BATCH_MAX,
  PUSH_CONSUMER_NAME_CHARS_MAX,
  type PushConsumerRecord,
} from '@fantail/contracts'
import {
  PushConsumerInput,
  PushConsumerList,
  PushConsumerListQuery,
  PushConsumerReference,
  PushConsumerView,
} from '@fantail/contracts/schemas/queues/push-consumer-schemas'
import { QueueReference } from '@fantail/contracts/schemas/shared-schemas'
import type { Attempters } from '@fantail/delivery'
import { parseFunctionArn, webhookUrlProblem } from '@fantail/policy'
import {
  decodeCursor,
  encodeCursor,
  PUSH_CONSUMER,
  type PushConsumerSettings,
  type PushConsumerWithBatches,
} from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import {
  type Answer,
  type Call,
  type Endpoint,
  endpoint,
  NO_CONTENT,
  ok,
  queueOf,
} from '../../http/endpoint.ts'
import { invalid, notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'
import { keepWay, outboundProblems, outboundView } from '../../subscriptions/outbound.ts'

const NAME = new RegExp(`^[A-Za-z0-9_-]{1,${PUSH_CONSUMER_NAME_CHARS_MAX}}$`)

const WRITE_ERRORS: ErrorCode[] = ['not_found', 'conflict', 'wrong_state', 'storage_full', 'key_unavailable']

export function pushConsumerRoutes(deps: ApiDeps): Endpoint[] {
  const route = {
    path: '/v1/queues/{queue}/consumers/{consumer}',
    params: { queue: QueueReference, consumer: PushConsumerReference },
    tag: 'Push consumers' as const,
  }
  return [
    endpoint({
      ...route,
      id: 'createPushConsumer',
      method: 'PUT',
      summary: 'Push a queue’s messages to a webhook, or set the members given',
      description:
        'Workers post batches to the URL as AWS Lambda gets them from SQS, and delete what a 2xx accepts. Messages ' +
        'that fail come back after its visibility timeout. Changes act at once.',
      body: PushConsumerInput,
      answers: {
        200: { description: 'It existed: the members given are set', schema: PushConsumerView },
        201: { description: 'Created', schema: PushConsumerView },
      },
      errors: WRITE_ERRORS,
      handle: (call) => putPushConsumer(deps, call),
    }),
    endpoint({
      id: 'listPushConsumers',
      method: 'GET',
      path: '/v1/queues/{queue}/consumers',
      params: { queue: QueueReference },
      tag: 'Push consumers',
      summary: 'List the push consumers of a queue',
      description: 'Sorted by name, each with its settings. Answers 404 where the queue does not exist.',
      query: PushConsumerListQuery,
      answers: { 200: { description: 'A page, sorted by name', schema: PushConsumerList } },
      errors: ['not_found'],
      handle: (call) => listPushConsumers(deps, call),
    }),
    endpoint({
      ...route,
      id: 'getPushConsumer',
      method: 'GET',
      summary: 'Read a push consumer, and how many requests are under way',
      description: 'Shows its settings without secrets: passwords are masked, headers shown by name only.',
      answers: { 200: { description: 'The consumer', schema: PushConsumerView } },
      errors: ['not_found'],
      handle: async (call) => ok(await readPushConsumer(deps, call)),
    }),
    endpoint({
      ...route,
      id: 'updatePushConsumer',
      method: 'PATCH',
      summary: 'Set the given members of a push consumer',
      description:
        'Members that are left out stay as they are; null resets one. If `url` has another origin, the secrets of ' +
        '`outbound` must be given again.',
      body: PushConsumerInput,
      answers: { 200: { description: 'The consumer as it is now', schema: PushConsumerView } },
      errors: WRITE_ERRORS,
      handle: (call) => patchPushConsumer(deps, call),
    }),
    endpoint({
      ...route,
      id: 'deletePushConsumer',
      method: 'DELETE',
      summary: 'Remove a push consumer; requests under way end as they began',
      description: 'No further request begins. Messages stay in the queue for other receivers.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: (call) => deletePushConsumer(deps, call),
    }),
  ]
}

type PushConsumerCall = Call<unknown, z.output<typeof PushConsumerInput>>

async function putPushConsumer(deps: ApiDeps, call: PushConsumerCall): Promise<Answer> {
  const { arn, name } = namesOf(deps, call)
  await refuseLeased(deps, arn)
  const { created } = await deps.pushConsumers.put(arn, name, settingsOf(deps, call.body, { arn, name }))
  logChange(deps, call, created ? 'push_consumer.created' : 'push_consumer.changed')
  return { status: created ? 201 : 200, body: await readPushConsumer(deps, call) }
}

async function patchPushConsumer(deps: ApiDeps, call: PushConsumerCall): Promise<Answer> {
  const { arn, name } = namesOf(deps, call)
  await deps.pushConsumers.patch(arn, name, settingsOf(deps, call.body, { arn, name }))
  logChange(deps, call, 'push_consumer.changed')
  return ok(await readPushConsumer(deps, call))
}

async function deletePushConsumer(deps: ApiDeps, call: Call): Promise<Answer> {
  const { arn, name } = namesOf(deps, call)
  await deps.pushConsumers.delete(arn, name)
  deps.log.info({ requestId: call.requestId, queueArn: arn, consumer: name }, 'push_consumer.deleted')
  return NO_CONTENT
}

async function listPushConsumers(
  deps: ApiDeps,
  call: Call<z.output<typeof PushConsumerListQuery>>,
): Promise<Answer> {
  const { cursor, limit } = call.query
  const found = await deps.pushConsumers.of(queueOf(deps, call))
  if (!found) throw notFound('queue')
  const [after = ''] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  const rest = found.filter(({ consumer }) => consumer.name > after)
  const shown = rest.slice(0, limit)
  const last = rest.length > limit ? shown.at(-1)?.consumer.name : undefined
  const nextCursor = last === undefined ? null : encodeCursor([last])
  return ok({ consumers: shown.map(pushConsumerView), nextCursor })
}

async function readPushConsumer(deps: ApiDeps, call: Call): Promise<object> {
  const { arn, name } = namesOf(deps, call)
  const found = await deps.pushConsumers.get(arn, name)
  if (!found) throw notFound('consumer of this queue')
  return pushConsumerView(found)
}

function namesOf(deps: ApiDeps, call: Call): { arn: string; name: string } {
  const name = call.params.consumer ?? ''
  if (NAME.test(name)) return { arn: queueOf(deps, call), name }
  throw FantailError.invalid('consumer', `must be 1 to ${PUSH_CONSUMER_NAME_CHARS_MAX} of A-Z a-z 0-9 _ -`)
}

/** The given members, with `null` as the default. Some depend on the present consumer. */
function settingsOf(
  deps: ApiDeps,
  { url, outbound, ...input }: z.output<typeof PushConsumerInput>,
  { arn, name }: { arn: string; name: string },
): (before: PushConsumerRecord | undefined) => Partial<PushConsumerSettings> {
  const set: Partial<PushConsumerSettings> = {}
  for (const [member, value] of Object.entries(input)) {
    if (value !== undefined)
      Object.assign(set, {
        [member]:
          value ?? PUSH_CONSUMER.settingDefaults[member as keyof typeof PUSH_CONSUMER.settingDefaults],
      })
  }
  const problems = outboundProblems(outbound, undefined)
  if (problems.length > 0) throw invalid(problems)
  if (url !== undefined) checkUrl(deps, url)
  if (isFifoName(arn)) checkOrdered(set)
  return (before) => {
    const kept = outbound === undefined ? before?.outbound : outbound
    if (kept && parseFunctionArn(url ?? before?.url ?? ''))
      throw FantailError.invalid('outbound', 'must be null if the url is the ARN of a function')
    return { ...set, ...keepWay(deps, { queueArn: arn, name, before }, { url, outbound }) }
  }
}

function checkUrl({ attempters: { lambda } }: ApiDeps, url: string): void {
  const problem = parseFunctionArn(url) ? functionProblem(lambda, url) : webhookUrlProblem(url)
  if (problem !== undefined) throw FantailError.invalid('url', problem)
}

function functionProblem(functions: Attempters['lambda'], arn: string): string | undefined {
  const { lacks } = functions
  return lacks === undefined ? functions.refusalOf?.(arn) : `names a function, and ${lacks} is not set`
}

/** AWS's rule: only small batches without a window, because other messages of the groups would wait too. */
function checkOrdered({ batchSize = 1, batchWindowSeconds = 0 }: Partial<PushConsumerSettings>): void {
  if (batchSize > PUSH_CONSUMER_FIFO_BATCH_MAX) {
    throw FantailError.invalid('batchSize', `must be at most ${PUSH_CONSUMER_FIFO_BATCH_MAX} on a FIFO queue`)
  }
  if (batchWindowSeconds > 0) throw FantailError.invalid('batchWindowSeconds', 'must be 0 on a FIFO queue')
}

function logChange(deps: ApiDeps, call: PushConsumerCall, event: string): void {
  const { arn, name } = namesOf(deps, call)
  const members = Object.keys(call.body)
  deps.log.info({ requestId: call.requestId, queueArn: arn, consumer: name, members }, event)
}

/** Pushing renews no lease, so the queue would be deleted in spite of its consumer. */
async function refuseLeased({ queueCache }: ApiDeps, arn: string): Promise<void> {
  const queue = await queueCache.find(arn)
  if (queue?.leaseSeconds) throw FantailError.invalid('queue', 'has a lease, which only receives renew')
}

function pushConsumerView({ consumer, inFlight }: PushConsumerWithBatches): z.input<typeof PushConsumerView> {
  return {
    ...PUSH_CONSUMER.shown(consumer),
    outbound: outboundView(consumer),
    inFlight,
    createdAt: iso(consumer.createdAt),
    modifiedAt: iso(consumer.modifiedAt),
  }
}
