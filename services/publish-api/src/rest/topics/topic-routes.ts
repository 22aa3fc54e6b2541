import { type Problem, resolveTopic } from '@fantail/contracts'
import { TopicReference } from '@fantail/contracts/schemas/shared-schemas'
import { TopicInput, TopicList, TopicListQuery, TopicView } from '@fantail/contracts/schemas/topic-schemas'
import { checkDeliveryPolicy } from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso, topicView } from '../../http/record-views.ts'
import { deleteTopic, topicSettings, whenArchived } from '../../topics/topic-changes.ts'

export function topicRoutes(deps: ApiDeps): Endpoint[] {
  const arnOf = (call: Call) => resolveTopic(call.params.topic ?? '', deps.settings.arn)
  const one = { path: '/v1/topics/{topic}', params: { topic: TopicReference }, tag: 'Topics' } as const
  const common = {
    body: TopicInput,
    check: (body: Record<string, unknown>) => policyProblems(body.deliveryPolicy),
  }
  return [
    endpoint({
      ...one,
      ...common,
      id: 'createTopic',
      method: 'PUT',
      summary: 'Create a topic, or set the members given',
      description:
        'Creates the topic if there is none; a name that ends in `.fifo` makes a FIFO topic. If it exists, the ' +
        'members given are set and the others stay, so the request can be repeated.',
      bodyIs: 'optional',
      answers: {
        200: { description: 'It existed: the members given are set', schema: TopicView },
        201: { description: 'Created', schema: TopicView },
      },
      errors: ['quota_exceeded', 'conflict', 'storage_full', 'not_supported'],
      handle: (call) => putTopic(deps, arnOf(call), call),
    }),
    endpoint({
      id: 'listTopics',
      method: 'GET',
      path: '/v1/topics',
      tag: 'Topics',
      summary: 'List topics',
      description: 'Topics of all accounts, sorted by ARN. A key sees only those that it may see.',
      query: TopicListQuery,
      answers: { 200: { description: 'A page, sorted by ARN', schema: TopicList } },
      handle: ({ query }) => listTopics(deps, query),
    }),
    endpoint({
      ...one,
      id: 'getTopic',
      method: 'GET',
      summary: 'Read a topic',
      description:
        'Shows the topic’s settings, the delivery policy in force and its subscriptions by status.',
      answers: { 200: { description: 'The topic', schema: TopicView } },
      errors: ['not_found'],
      handle: async (call) => ok(await readTopic(deps, arnOf(call))),
    }),
    endpoint({
      ...one,
      ...common,
      id: 'updateTopic',
      method: 'PATCH',
      summary: 'Set the given members of a topic',
      description: 'Members that are left out stay as they are; null resets one. The topic must exist.',
      answers: { 200: { description: 'The topic as it is now', schema: TopicView } },
      errors: ['not_found', 'conflict', 'storage_full', 'not_supported'],
      handle: (call) => patchTopic(deps, arnOf(call), call),
    }),
    endpoint({
      ...one,
      id: 'deleteTopic',
      method: 'DELETE',
      summary: 'Delete a topic with its subscriptions',
      description:
        'Deliveries that wait for its subscriptions are discarded and counted. The dead-letter queue that the topic has ' +
        'made goes with it if it is empty. A topic with an archive is not deleted. Deleting again answers the same.',
      answers: { 204: { description: 'Gone, or there was none' } },
      errors: ['wrong_state'],
      handle: async (call) => {
        await deleteTopic(deps, arnOf(call), call.requestId)
        return NO_CONTENT
      },
    }),
  ]
}

type TopicCall = Call<unknown, z.output<typeof TopicInput>>

async function putTopic(deps: ApiDeps, arn: string, { body, requestId }: TopicCall): Promise<Answer> {
  const { created } = await deps.topics.put(arn, await topicSettings(deps, arn, body))
  deps.topicCache.forget(arn)
  if (body.archive && !created) await whenArchived()
  deps.log.info(
    { requestId, topicArn: arn, members: Object.keys(body) },
    created ? 'topic.created' : 'topic.changed',
  )
  return { status: created ? 201 : 200, body: await readTopic(deps, arn) }
}

async function patchTopic(deps: ApiDeps, arn: string, { body, requestId }: TopicCall): Promise<Answer> {
  await deps.topics.patch(arn, await topicSettings(deps, arn, body))
  deps.topicCache.forget(arn)
  if (body.archive) await whenArchived()
  deps.log.info({ requestId, topicArn: arn, members: Object.keys(body) }, 'topic.changed')
  return ok(await readTopic(deps, arn))
}

async function readTopic(deps: ApiDeps, arn: string): Promise<object> {
  const found = await deps.topics.getWithCounts(arn)
  if (!found) throw notFound('topic')
  const figures = found.topic.archive ? await deps.archiveFigures(found.topic) : null
  return { ...topicView(found), ...(figures && { archived: { ...figures, since: iso(figures.since) } }) }
}

async function listTopics(deps: ApiDeps, query: z.output<typeof TopicListQuery>): Promise<Answer> {
  const { items, nextCursor } = await deps.topics.list(query)
  const counted = await Promise.all(items.map(({ arn }) => deps.topics.getWithCounts(arn)))
  // A topic that was deleted meanwhile is left out.
  const shown = counted.filter((found) => found !== null).map((found) => topicView(found))
  return ok({ topics: shown, nextCursor })
}

/** A topic's policy applies to raw and other subscriptions, so only values that both allow are valid. */
function policyProblems(policy: unknown): Problem[] {
  return checkDeliveryPolicy(policy, { path: 'deliveryPolicy', contentTypes: 'plain' })
}
