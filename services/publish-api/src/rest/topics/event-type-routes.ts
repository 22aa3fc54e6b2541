/** The catalogue of a topic: its event types, their import, and the catalogue as an OpenAPI document. */
import { isDeepStrictEqual } from 'node:util'
import { type EventTypeRecord, eventTypeProblem, FantailError, resolveTopic } from '@fantail/contracts'
import {
  EventSchemaCheckAnswer,
  EventSchemaCheckInput,
  EventTypeDocument,
  EventTypeImportAnswer,
  EventTypeImportInput,
  EventTypeInput,
  EventTypeList,
  EventTypeQuery,
  EventTypeReference,
  EventTypeView,
} from '@fantail/contracts/schemas/event-type-schemas'
import { TopicReference } from '@fantail/contracts/schemas/shared-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import {
  changedType,
  checkTexts,
  eventTypeSummary,
  eventTypeView,
  type GivenType,
} from '../../event-types/event-type-views.ts'
import { catalogueDocument } from '../../event-types/openapi-webhooks.ts'
import { importedTypes } from '../../event-types/webhooks-import.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { invalid, notFound } from '../../http/error-answers.ts'

const PATH = '/v1/topics/{topic}/event-types'
const ALL = { path: PATH, params: { topic: TopicReference }, tag: 'Event types' } as const
const ONE = {
  path: `${PATH}/{name}`,
  params: { topic: TopicReference, name: EventTypeReference },
  tag: 'Event types',
} as const
const DOCUMENT = { ...ALL, path: '/v1/topics/{topic}/openapi' } as const

export function eventTypeRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      ...ALL,
      id: 'listEventTypes',
      method: 'GET',
      summary: 'List the event types of a topic',
      description: 'The whole catalogue, sorted by name, without schemas and examples.',
      answers: { 200: { description: 'Every event type', schema: EventTypeList } },
      errors: ['not_found'],
      handle: async (call) =>
        ok({ eventTypes: (await deps.eventTypes.list(topicOf(deps, call))).map(eventTypeSummary) }),
    }),
    endpoint({
      ...ONE,
      id: 'putEventType',
      method: 'PUT',
      summary: 'Create an event type, or set the members given',
      description:
        'The schema is compiled and the examples are checked before anything is stored. The members that are left out ' +
        'stay as they are, so the request can be repeated.',
      body: EventTypeInput,
      bodyIs: 'optional',
      answers: {
        200: { description: 'It existed: the members given are set', schema: EventTypeView },
        201: { description: 'Created', schema: EventTypeView },
      },
      errors: ['not_found', 'conflict', 'rate_limited', 'storage_full'],
      handle: (call) => putType(deps, call),
    }),
    endpoint({
      ...ONE,
      id: 'getEventType',
      method: 'GET',
      summary: 'Read an event type',
      description: 'Shows its schema and examples. The query chooses an older version of the schema.',
      query: EventTypeQuery,
      answers: { 200: { description: 'The event type', schema: EventTypeView } },
      errors: ['not_found'],
      handle: (call) => readType(deps, call),
    }),
    endpoint({
      ...ONE,
      id: 'deleteEventType',
      method: 'DELETE',
      summary: 'Delete an event type',
      description:
        'Removes the type with all versions from the catalogue. Subscriptions that have chosen it stay as they are. ' +
        'Deleting again answers the same.',
      answers: { 204: { description: 'Gone, or there was none' } },
      errors: ['not_found'],
      handle: (call) => deleteType(deps, call),
    }),
    endpoint({
      path: '/v1/event-types/check',
      tag: 'Event types',
      id: 'checkEventSchema',
      method: 'POST',
      summary: 'Check a schema before an event type gets it',
      description: 'The schema is compiled and the examples are checked. Nothing is stored.',
      body: EventSchemaCheckInput,
      answers: { 200: { description: 'The first problem, if any', schema: EventSchemaCheckAnswer } },
      errors: ['rate_limited'],
      handle: ({ body }) => checkSchema(deps, body),
    }),
    endpoint({
      ...DOCUMENT,
      id: 'importEventTypes',
      method: 'POST',
      summary: 'Import the webhooks of an OpenAPI document',
      description:
        'Each webhook becomes an event type of the same name. Types that the document does not have stay as they are. ' +
        'With `dryRun` the answer says what would change.',
      body: EventTypeImportInput,
      answers: {
        200: { description: 'The changes that were made, or that would be', schema: EventTypeImportAnswer },
      },
      errors: ['not_found', 'conflict', 'rate_limited', 'storage_full'],
      handle: (call) => importTypes(deps, call),
    }),
    endpoint({
      ...DOCUMENT,
      id: 'getTopicDocument',
      method: 'GET',
      summary: 'Read the catalogue of a topic as an OpenAPI document',
      description: 'Each event type is a webhook with its newest schema and its examples.',
      answers: { 200: { description: 'An OpenAPI 3.1 document', schema: EventTypeDocument } },
      errors: ['not_found'],
      handle: (call) => readDocument(deps, call),
    }),
  ]
}

type Params = Pick<Call, 'params'>

function topicOf({ settings }: ApiDeps, { params }: Params): string {
  return resolveTopic(params.topic ?? '', settings.arn)
}

async function putType(deps: ApiDeps, call: Call<unknown, GivenType>): Promise<Answer> {
  const { body: given, params, requestId } = call
  const name = params.name ?? ''
  const problem = eventTypeProblem(name)
  if (problem !== undefined) throw FantailError.invalid('name', problem)
  checkTexts(given)
  const topicArn = topicOf(deps, call)
  const change = { name, given, now: deps.clock() }
  const { record, created } = await store(deps, topicArn, change)
  deps.log.info(
    { requestId, topicArn, eventType: name },
    created ? 'event_type.created' : 'event_type.changed',
  )
  return { status: created ? 201 : 200, body: eventTypeView(record) }
}

/** Throws `validation_failed` if the newest schema is refused, or an example does not fit it. */
async function compile(
  { schemaCompiler }: ApiDeps,
  { versions, examples }: EventTypeRecord,
  path = '',
): Promise<void> {
  const newest = versions.at(-1)
  if (!newest) return
  const reply = await schemaCompiler.compile(newest.schema, examples)
  if ('problem' in reply) throw invalid([{ ...reply.problem, path: path + reply.problem.path }])
}

/** `compiled`: the record that was compiled already. Another request may change the type meanwhile. */
async function store(
  deps: ApiDeps,
  topicArn: string,
  change: Parameters<typeof changedType>[1],
  { compiled, path }: { compiled?: EventTypeRecord; path?: string } = {},
) {
  let known = compiled
  const stored = await deps.eventTypes.put(topicArn, change.name, async (before) => {
    const after = changedType(before, change)
    if (!known || !hasSameSchema(known, after)) await compile(deps, after, path)
    known = after
    return after
  })
  deps.topicCache.forget(topicArn)
  return stored
}

function hasSameSchema(a: EventTypeRecord, b: EventTypeRecord): boolean {
  return a.versions.at(-1)?.schema === b.versions.at(-1)?.schema && isDeepStrictEqual(a.examples, b.examples)
}

async function checkSchema(
  { schemaCompiler }: ApiDeps,
  given: z.output<typeof EventSchemaCheckInput>,
): Promise<Answer> {
  checkTexts(given)
  const examples = (given.examples ?? []).map((example) => JSON.stringify(example))
  const reply = await schemaCompiler.compile(JSON.stringify(given.schema), examples)
  return ok({ problem: 'problem' in reply ? reply.problem : null })
}

async function readType(deps: ApiDeps, call: Call<z.output<typeof EventTypeQuery>>): Promise<Answer> {
  const record = await deps.eventTypes.get(topicOf(deps, call), call.params.name ?? '')
  if (!record) throw notFound('event type')
  const { version } = call.query
  if (version === undefined) return ok(eventTypeView(record))
  const shown = record.versions.find((one) => one.version === version)
  if (!shown) throw notFound('version of this event type')
  return ok(eventTypeView(record, shown))
}

async function deleteType(deps: ApiDeps, call: Call): Promise<Answer> {
  const topicArn = topicOf(deps, call)
  const eventType = call.params.name ?? ''
  await deps.eventTypes.delete(topicArn, eventType)
  deps.topicCache.forget(topicArn)
  deps.log.info({ requestId: call.requestId, topicArn, eventType }, 'event_type.deleted')
  return NO_CONTENT
}

async function importTypes(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof EventTypeImportInput>>,
): Promise<Answer> {
  const topicArn = topicOf(deps, call)
  const { document, dryRun = false } = call.body
  const present = new Map((await deps.eventTypes.list(topicArn)).map((record) => [record.name, record]))
  const now = deps.clock()
  const outcome = importedTypes(document).map(({ name, given }) => {
    checkTexts(given, `document.webhooks.${name}.`)
    const before = present.get(name) ?? null
    const after = changedType(before, { name, given, now })
    return { name, given, after, ...changeOf(before, after) }
  })
  const changed = outcome.filter(({ change }) => change !== 'none')
  const pathOf = (name: string) => `document.webhooks.${name}.`
  for (const { name, after } of changed) await compile(deps, after, pathOf(name))
  if (!dryRun)
    for (const { name, given, after } of changed)
      await store(deps, topicArn, { name, given, now }, { compiled: after, path: pathOf(name) })
  if (!dryRun)
    deps.log.info({ requestId: call.requestId, topicArn, changed: changed.length }, 'event_type.imported')
  const changes = outcome.map(({ name, change, members }) => ({ name, change, members }))
  return ok({ applied: !dryRun, changes })
}

function changeOf(before: EventTypeRecord | null, after: EventTypeRecord) {
  if (before === after) return { change: 'none' as const, members: [] }
  const members = (['description', 'schema', 'examples', 'deprecated'] as const).filter((member) => {
    const of = (record: EventTypeRecord | null) =>
      member === 'schema' ? record?.versions.at(-1)?.schema : record?.[member]
    return !isDeepStrictEqual(of(before), of(after))
  })
  return { change: before ? ('update' as const) : ('create' as const), members }
}

async function readDocument(deps: ApiDeps, call: Call): Promise<Answer> {
  const topicArn = topicOf(deps, call)
  const [topic, types] = await Promise.all([deps.topics.get(topicArn), deps.eventTypes.list(topicArn)])
  if (!topic) throw notFound('topic')
  return ok(catalogueDocument(topic, types))
}
