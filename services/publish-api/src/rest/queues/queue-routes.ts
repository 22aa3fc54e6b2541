/** Queues: their definitions. */
import { isOf } from '@fantail/access'
import { FantailError, parseArn, topicArn, withoutSubscription } from '@fantail/contracts'
import {
  QueueInput,
  QueueList,
  QueueListQuery,
  QueueView,
} from '@fantail/contracts/schemas/queues/queue-schemas'
import { QueueReference } from '@fantail/contracts/schemas/shared-schemas'
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
import { notFound, Unseen } from '../../http/error-answers.ts'
import { publicUrlFor } from '../../http/origin.ts'
import { queueView } from '../../http/record-views.ts'
import { queueSettings } from '../../queues/queue-settings.ts'
import { deadLetterSources } from '../../redrives/dead-letter-sources.ts'

export function queueRoutes(deps: ApiDeps): Endpoint[] {
  const route = { path: '/v1/queues/{queue}', params: { queue: QueueReference }, tag: 'Queues' as const }
  const input = { body: QueueInput }
  return [
    endpoint({
      ...route,
      ...input,
      id: 'createQueue',
      method: 'PUT',
      summary: 'Create a queue, or set the members given',
      description:
        'Creates the queue if there is none; a name that ends in `.fifo` makes a FIFO queue. If it exists, the ' +
        'members given are set and the others stay, so the request can be repeated.',
      bodyIs: 'optional',
      answers: {
        200: { description: 'It existed: the members given are set', schema: QueueView },
        201: { description: 'Created', schema: QueueView },
      },
      errors: ['storage_full', 'conflict', 'not_supported'],
      handle: (call) => putQueue(deps, call),
    }),
    endpoint({
      id: 'listQueues',
      method: 'GET',
      path: '/v1/queues',
      tag: 'Queues',
      summary: 'List queues',
      description: 'Queues of all accounts, sorted by ARN. A key sees only those that it may see.',
      query: QueueListQuery,
      answers: { 200: { description: 'A page, sorted by ARN', schema: QueueList } },
      handle: (call) => listQueues(deps, call),
    }),
    endpoint({
      ...route,
      id: 'getQueue',
      method: 'GET',
      summary: 'Read a queue and how full it is',
      description:
        'Shows settings, message counts, the age of the oldest message, and whose dead letters it takes.',
      answers: { 200: { description: 'The queue', schema: QueueView } },
      errors: ['not_found'],
      handle: async (call) => ok(await readQueue(deps, call, queueOf(deps, call))),
    }),
    endpoint({
      ...route,
      ...input,
      id: 'updateQueue',
      method: 'PATCH',
      summary: 'Set the given members of a queue',
      description: 'Members that are left out stay as they are; null resets one. The queue must exist.',
      answers: { 200: { description: 'The queue as it is now', schema: QueueView } },
      errors: ['storage_full', 'not_found', 'conflict', 'not_supported'],
      handle: (call) => patchQueue(deps, call),
    }),
    endpoint({
      ...route,
      id: 'deleteQueue',
      method: 'DELETE',
      summary: 'Delete a queue with everything in it',
      description:
        'Messages and push consumers go with the queue; nothing brings them back. Deleting again is allowed.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: (call) => deleteQueue(deps, call),
    }),
  ]
}

type QueueCall = Call<unknown, z.output<typeof QueueInput>>

async function putQueue(deps: ApiDeps, call: QueueCall): Promise<Answer> {
  const arn = queueOf(deps, call)
  const { created } = await deps.queues.put(arn, await queueSettings(deps, arn, call.body))
  logChange(deps, call, { arn, event: created ? 'queue.created' : 'queue.changed' })
  return { status: created ? 201 : 200, body: await readQueue(deps, call, arn) }
}

async function patchQueue(deps: ApiDeps, call: QueueCall): Promise<Answer> {
  const arn = queueOf(deps, call)
  await deps.queues.patch(arn, await queueSettings(deps, arn, call.body))
  logChange(deps, call, { arn, event: 'queue.changed' })
  return ok(await readQueue(deps, call, arn))
}

function logChange(deps: ApiDeps, call: QueueCall, { arn, event }: { arn: string; event: string }): void {
  deps.log.info({ requestId: call.requestId, queueArn: arn, members: Object.keys(call.body) }, event)
}

async function deleteQueue(deps: ApiDeps, call: Call): Promise<Answer> {
  const arn = queueOf(deps, call)
  await deps.queues.delete(arn)
  deps.log.info({ requestId: call.requestId, queueArn: arn }, 'queue.deleted')
  return NO_CONTENT
}

async function listQueues(deps: ApiDeps, call: Call<z.output<typeof QueueListQuery>>): Promise<Answer> {
  const { items, nextCursor } = await deps.queues.list(call.query)
  const shown = await Promise.all(items.map(({ arn }) => showQueue(deps, call, arn)))
  return ok({ queues: shown.filter((view) => view !== null), nextCursor })
}

async function readQueue(deps: ApiDeps, call: Call, arn: string): Promise<object> {
  const view = await showQueue(deps, call, arn)
  if (!view) throw notFound('queue')
  return view
}

async function showQueue(deps: ApiDeps, call: Call, arn: string): Promise<object | null> {
  const [found, all] = await Promise.all([deps.queues.getWithCounts(arn), deadLetterSources(deps, arn)])
  const leaseEndsAt = found?.queue.leaseSeconds ? await deps.queues.leaseEndsAt(arn) : null
  const { caller } = call
  // A subscription's ARN has its id, and with the id anybody may unsubscribe.
  const sources = caller ? all.filter((source) => isOf(caller, withoutSubscription(source))) : all
  const { account, name } = parseArn(arn) ?? {}
  const url = `${publicUrlFor(deps.settings, call)}/${account}/${name}`
  return found && queueView({ ...found, leaseEndsAt, sources, url, now: deps.clock() })
}

type Tools = Pick<ApiDeps, 'settings' | 'topics' | 'topicQueues'>

const OWN_QUEUE = /^(.+)-dead-letters(?:-[0-9a-f]{8})?(\.fifo)?$/
const NO_QUEUE = notFound('queue').message

/**
 * A topic's own dead-letter queue is created by the first letter. Until then the queue does not exist, although
 * `onFailure` names it. The refusal therefore says what creates the queue. Routes of one queue. If the queue is
 * missing, their error names the topic that would make it.
 */
export function namingTopics(deps: Tools, endpoints: Endpoint[]): Endpoint[] {
  return endpoints.map((route) => (route.method === 'GET' ? namingTopic(deps, route) : route))
}

function namingTopic(deps: Tools, route: Endpoint): Endpoint {
  const handle: Endpoint['handle'] = async (call) => {
    try {
      return await route.handle(call)
    } catch (error) {
      const isMissing =
        error instanceof FantailError && !(error instanceof Unseen) && error.message === NO_QUEUE
      throw (isMissing && (await unmadeQueue(deps, call))) || error
    }
  }
  return { ...route, handle }
}

/** Undefined if no topic that the caller may see would make the queue. */
async function unmadeQueue(deps: Tools, call: Call): Promise<FantailError | undefined> {
  const arn = queueOf(deps, call)
  const place = parseArn(arn)
  const [, stem, fifo = ''] = OWN_QUEUE.exec(place?.name ?? '') ?? []
  if (!place || stem === undefined) return undefined
  const topic = topicArn(`${stem}${fifo}`, place)
  if (call.caller && !isOf(call.caller, topic)) return undefined
  const [record, own] = await Promise.all([deps.topics.get(topic), deps.topicQueues.find(topic)])
  if (!record || own?.queueArn !== arn) return undefined
  return new FantailError('not_found', `${NO_QUEUE}; the first dead letter of topic ${record.name} makes it`)
}
