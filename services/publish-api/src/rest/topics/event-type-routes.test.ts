/** The catalogue over REST, and publishing that is checked against it. */
import type { Message } from '@fantail/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EventTypeChecks } from '../../event-types/event-type-checks.ts'
import { SchemaCompiler } from '../../event-types/schema-compiler.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api.stop())

const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string' }, total: { type: 'number' } },
  required: ['id'],
}

/** A new topic. */
let topics = 0
async function topicWith(settings: object = {}): Promise<string> {
  const topic = `topic-${++topics}`
  await api.call('PUT', `/v1/topics/${topic}`, { body: settings })
  return topic
}

const put = (topic: string, name: string, body?: object) =>
  api.call('PUT', `/v1/topics/${topic}/event-types/${name}`, body ? { body } : {})
const get = (topic: string, name: string, query = '') =>
  api.call('GET', `/v1/topics/${topic}/event-types/${name}${query}`)
const publish = (topic: string, body: object) => api.call('POST', `/v1/topics/${topic}/messages`, { body })

describe('the catalogue', () => {
  test('keeps what is given, makes a version of each changed schema, and resets members by null', async () => {
    const topic = await topicWith()
    const examples = [{ id: 'o-1' }]
    const made = await put(topic, 'order.paid', { description: 'Paid.', schema: SCHEMA, examples })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'order.paid', version: 1, schema: SCHEMA, examples },
    })
    expect(await put(topic, 'order.paid', { schema: SCHEMA })).toMatchObject({ status: 200, body: made.body })
    const second = { ...SCHEMA, required: ['id', 'total'] }
    await put(topic, 'order.paid', { schema: second, examples: null, deprecated: true })
    expect((await get(topic, 'order.paid')).body).toMatchObject({
      description: 'Paid.',
      deprecated: true,
      schema: second,
      schemaVersion: 2,
      versions: [{ version: 1 }, { version: 2 }],
      examples: [],
    })
    expect((await get(topic, 'order.paid', '?version=1')).body).toMatchObject({
      schema: SCHEMA,
      schemaVersion: 1,
    })
    expect((await get(topic, 'order.paid', '?version=3')).status).toBe(404)
    await put(topic, 'note')
    const { body } = await api.call('GET', `/v1/topics/${topic}/event-types`)
    expect(body.eventTypes).toMatchObject([
      { name: 'note', version: null },
      { name: 'order.paid', version: 2, deprecated: true },
    ])
    const remove = () => api.call('DELETE', `/v1/topics/${topic}/event-types/order.paid`)
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204])
    expect((await get(topic, 'order.paid')).status).toBe(404)
  })

  test('keeps the newest ten versions', async () => {
    const topic = await topicWith()
    for (let n = 1; n <= 11; n++) await put(topic, 'a', { schema: { maxLength: n } })
    const { versions } = (await get(topic, 'a')).body
    expect(versions.map(({ version }: { version: number }) => version)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ])
  })

  test('gives no number of a version again', async () => {
    const topic = await topicWith()
    for (const schema of [SCHEMA, {}, null, null]) await put(topic, 'a', { schema })
    expect((await put(topic, 'a', { description: 'x' })).body).toMatchObject({ version: null, versions: [] })
    expect((await put(topic, 'a', { schema: SCHEMA })).body).toMatchObject({
      version: 3,
      versions: [{ version: 3 }],
    })
    expect((await put(topic, 'a', { schema: {} })).body.version).toBe(4)
  })

  test('stores no example that another request makes unfit meanwhile', async () => {
    const topic = await topicWith()
    await put(topic, 'a', { schema: SCHEMA })
    const { schemaCompiler } = api.deps
    const compile = async (...args: Parameters<typeof schemaCompiler.compile>) => {
      api.deps.schemaCompiler = schemaCompiler
      await put(topic, 'a', { schema: { ...SCHEMA, required: ['total'] } })
      return schemaCompiler.compile(...args)
    }
    api.deps.schemaCompiler = { compile, stop: () => schemaCompiler.stop() }
    const answer = await put(topic, 'a', { examples: [{ id: 'o-1' }] })
    expect([answer.status, answer.body.error?.details]).toEqual([
      400,
      [{ path: 'examples[0]', message: expect.stringContaining("required property 'total'") }],
    ])
    expect((await get(topic, 'a')).body).toMatchObject({ version: 2, examples: [] })
  })

  test.each<[string, object | undefined, string]>([
    ['bad..name', undefined, 'name must be segments of A-Z a-z 0-9 _ - joined by dots, like order.paid'],
    ['a', { schema: { typ: 'x' } }, 'schema.typ is not a keyword that is known'],
    ['a', { schema: { constructor: 1 } }, 'schema.constructor is not a keyword that is known'],
    [
      'a',
      { schema: SCHEMA, examples: [{}] },
      "examples[0] does not fit the schema: must have required property 'id'",
    ],
    ['a', { schema: { description: 'x'.repeat(65_536) } }, 'schema must have at most 65536 bytes'],
    ['a', { examples: ['x'.repeat(65_536)] }, 'examples must have at most 65536 bytes'],
  ])('refuses %s with %j', async (name, body, message) => {
    const topic = await topicWith()
    const answer = await put(topic, name, body)
    expect([answer.status, answer.body.error.message]).toEqual([400, message])
    expect((await api.call('GET', `/v1/topics/${topic}/event-types`)).body).toEqual({ eventTypes: [] })
  })

  test('tells the problem of a schema before a type gets it', async () => {
    const check = async (body: object) => (await api.call('POST', '/v1/event-types/check', { body })).body
    expect(await check({ schema: SCHEMA, examples: [{ id: 'o-1' }] })).toEqual({ problem: null })
    expect(await check({ schema: { typ: 'x' } })).toEqual({
      problem: { path: 'schema.typ', message: 'is not a keyword that is known' },
    })
    const { problem } = await check({ schema: SCHEMA, examples: [{}] })
    expect(problem.path).toBe('examples[0]')
  })

  test('needs its topic', async () => {
    expect((await put('nowhere', 'a')).status).toBe(404)
    expect((await api.call('GET', '/v1/topics/nowhere/event-types')).status).toBe(404)
    expect((await api.call('GET', '/v1/topics/nowhere/openapi')).status).toBe(404)
  })
})

describe('a checked publish', () => {
  async function checked(eventTypeCheck: 'warn' | 'refuse'): Promise<string> {
    const topic = await topicWith({ eventTypeCheck })
    await put(topic, 'order.paid', { schema: SCHEMA })
    await put(topic, 'note', { deprecated: true })
    return topic
  }
  const stored = async (id: string): Promise<Message | undefined> =>
    (await api.published()).find(({ messageId }) => messageId === id)

  const MISFITS: [object, string][] = [
    [
      { message: { total: 1 }, eventType: 'order.paid' },
      "message does not fit version 1 of order.paid: must have required property 'id'",
    ],
    [
      { message: { id: 'a', total: 'x' }, eventType: 'order.paid' },
      'message does not fit version 1 of order.paid: /total must be number',
    ],
    [
      { message: 'no JSON', eventType: 'order.paid' },
      'message does not fit version 1 of order.paid: must be JSON',
    ],
    [{ message: {}, eventType: 'order.payd' }, 'eventType names order.payd, which the topic does not have'],
    [{ message: {} }, 'eventType is missing, and the topic checks event types'],
    [
      { message: { id: 'a' }, eventType: 'order.paid', eventTypeVersion: 2 },
      'eventTypeVersion names no version of order.paid',
    ],
  ]

  test('is refused with the type and the first failing path, and stores nothing', async () => {
    const topic = await checked('refuse')
    const before = (await api.published()).length
    for (const [body, message] of MISFITS) {
      const answer = await publish(topic, body)
      expect([answer.status, answer.body.error?.message]).toEqual([400, message])
    }
    const batch = { messages: [{ message: { id: 'a' }, eventType: 'order.paid' }, MISFITS[1]?.[0]] }
    expect((await publish(topic, batch)).body.error.details).toEqual([
      { path: 'messages[1].message', message: 'does not fit version 1 of order.paid: /total must be number' },
    ])
    expect((await api.published()).length).toBe(before)
    const texts = { default: '{"id":"a"}', http: 'other' }
    const fine = { message: texts, structure: 'json', attributes: { eventType: 'order.paid' } }
    expect((await publish(topic, fine)).status).toBe(202)
  })

  test('is accepted with a warning in its receipt', async () => {
    const topic = await checked('warn')
    for (const [body, warning] of MISFITS) {
      const answer = await publish(topic, body)
      expect([answer.status, answer.body.warning]).toEqual([202, warning])
      expect(await stored(answer.body.messageId)).toBeDefined()
    }
    const batch = {
      messages: [
        { message: { id: 'a' }, eventType: 'order.paid' },
        { message: 'x', eventType: 'note' },
      ],
    }
    const { results } = (await publish(topic, batch)).body
    expect(results.map(({ warning }: { warning?: string }) => warning)).toEqual([
      undefined,
      'eventType is deprecated: note',
    ])
    const findings = [...api.deps.metrics.eventTypeFindings.series()].filter(
      ({ labels }) => labels.topic === topic,
    )
    expect(findings).toMatchObject([{ labels: { result: 'warned' }, value: MISFITS.length + 1 }])
  })

  test('a message of a deprecated type only brings a warning', async () => {
    const topic = await checked('refuse')
    const answer = await publish(topic, { message: 'x', eventType: 'note' })
    expect([answer.status, answer.body.warning]).toEqual([202, 'eventType is deprecated: note'])
  })

  test('is refused for a while, or accepted with a warning, if it cannot be checked', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`p${n}`, { type: 'string' }]),
    )
    const compiler = new SchemaCompiler({ compileMsMax: 1 })
    const { log, eventTypes, eventTypeChecks: usual } = api.deps
    let compilations = 0
    const compile = (schema: string) => {
      compilations++
      return compiler.compile(schema)
    }
    const answers: Awaited<ReturnType<typeof publish>>[] = []
    api.deps.eventTypeChecks = new EventTypeChecks({ eventTypes, compiler: { compile }, log })
    try {
      for (const eventTypeCheck of ['refuse', 'refuse', 'warn']) {
        const topic = await topicWith({ eventTypeCheck })
        await put(topic, 'large', { schema: { properties } })
        answers.push(await publish(topic, { message: {}, eventType: 'large' }))
      }
    } finally {
      api.deps.eventTypeChecks = usual
      await compiler.stop()
    }
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 202])
    expect(answers[0]?.headers.get('retry-after')).toBe('10')
    expect(answers[2]?.body.warning).toBe('message was not checked, because the server could not do it')
    expect(compilations).toBe(1)
  })

  test('follows a change of the catalogue at once, and an older version that it names', async () => {
    const topic = await checked('refuse')
    const lacking = { message: { id: 'a' }, eventType: 'order.paid' }
    expect((await publish(topic, lacking)).status).toBe(202)
    await put(topic, 'order.paid', { schema: { ...SCHEMA, required: ['id', 'total'] } })
    expect((await publish(topic, lacking)).status).toBe(400)
    expect((await publish(topic, { ...lacking, eventTypeVersion: 1 })).status).toBe(202)
    await api.call('DELETE', `/v1/topics/${topic}/event-types/order.paid`)
    expect((await publish(topic, lacking)).body.error.message).toContain('which the topic does not have')
  })

  test.each(['orders', 'orders.fifo'])('to %s is answered again by its key after a change', async (name) => {
    const topic = `checked-${name}`
    await api.call('PUT', `/v1/topics/${topic}`, { body: { eventTypeCheck: 'refuse' } })
    await put(topic, 'order.paid', { schema: SCHEMA })
    const fifo = name.endsWith('.fifo') && { groupId: 'g', deduplicationId: 'd' }
    const body = { message: { id: 'a' }, eventType: 'order.paid', ...fifo }
    const send = (more: object = {}) =>
      api.call('POST', `/v1/topics/${topic}/messages`, {
        body: { ...body, ...more },
        headers: { 'Idempotency-Key': 'k' },
      })
    const first = await send()
    await put(topic, 'order.paid', { schema: { ...SCHEMA, required: ['id', 'total'] } })
    expect(first.status).toBe(202)
    expect(await send()).toMatchObject({ status: 202, body: first.body })
    expect((await send({ message: { id: 'b' } })).status).toBe(400)
  })

  test('makes attributes of its type and version, which must not be given twice', async () => {
    const topic = await topicWith()
    const body = { message: 'x', eventType: 'order.paid', eventTypeVersion: 3, attributes: { a: 'b' } }
    const { messageId } = (await publish(topic, body)).body
    expect((await stored(messageId))?.attributes).toEqual({
      a: { type: 'String', value: 'b' },
      eventType: { type: 'String', value: 'order.paid' },
      eventTypeVersion: { type: 'Number', value: '3' },
    })
    const raw = await api.call('POST', `/v1/topics/${topic}/messages?raw=true&eventType=a.b`, {
      body: 'text',
    })
    expect((await stored(raw.body.messageId))?.attributes).toEqual({
      eventType: { type: 'String', value: 'a.b' },
    })
    const twice = await publish(topic, { message: 'x', eventType: 'a', attributes: { eventType: 'a' } })
    expect(twice.body.error.message).toBe('eventType is given as an attribute, too')
    const wrong = await publish(topic, { message: 'x', eventType: 'a..b', eventTypeVersion: 0 })
    expect(wrong.body.error.details).toHaveLength(2)
  })
})

describe('an OpenAPI document', () => {
  const operation = (schema: object, more: object = {}) => ({
    post: { requestBody: { content: { 'application/json': { schema } } }, ...more },
  })
  const document = {
    openapi: '3.1.0',
    webhooks: {
      'order.paid': operation({ $ref: '#/components/schemas/Order' }, { summary: 'Paid.' }),
      'order.sent': { $ref: '#/components/pathItems/sent' },
    },
    components: {
      pathItems: {
        sent: operation(
          { type: 'array', items: { $ref: '#/components/schemas/Order' } },
          { deprecated: true },
        ),
      },
      schemas: {
        Order: {
          type: 'object',
          properties: {
            id: { type: 'string', example: 'o-1' },
            lines: { items: { $ref: '#/components/schemas/Line' } },
            parent: { $ref: '#/components/schemas/Order' },
          },
          required: ['id'],
          xml: { name: 'order' },
        },
        Line: {
          type: 'object',
          properties: { example: { type: 'string' }, in: { $ref: '#/components/schemas/Order' } },
        },
      },
    },
  }
  const importing = (topic: string, given: object, dryRun = false) =>
    api.call('POST', `/v1/topics/${topic}/openapi`, { body: { document: given, dryRun } })

  test('is tried first, imported then, and read back as the same catalogue', async () => {
    const topic = await topicWith()
    await put(topic, 'order.sent', { deprecated: true })
    const changes = [
      { name: 'order.paid', change: 'create', members: ['description', 'schema', 'examples', 'deprecated'] },
      { name: 'order.sent', change: 'update', members: ['schema'] },
    ]
    expect((await importing(topic, document, true)).body).toEqual({ applied: false, changes })
    expect((await get(topic, 'order.paid')).status).toBe(404)
    expect((await importing(topic, document)).body).toEqual({ applied: true, changes })
    const { Order, Line } = document.components.schemas
    expect((await get(topic, 'order.paid')).body).toMatchObject({
      description: 'Paid.',
      schema: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          lines: { items: { $ref: '#/$defs/Line' } },
          parent: { $ref: '#' },
        },
        $defs: { Line: { ...Line, properties: { ...Line.properties, in: { $ref: '#' } } } },
      },
    })
    expect((await get(topic, 'order.sent')).body.schema.$defs.Order.required).toEqual(Order.required)
    const read = await api.call('GET', `/v1/topics/${topic}/openapi`)
    expect(Object.keys(read.body.webhooks)).toEqual(['order.paid', 'order.sent'])
    const again = await importing(topic, read.body, true)
    expect(again.body.changes.map(({ change }: { change: string }) => change)).toEqual(['none', 'none'])
  })

  test('may name a schema __proto__', async () => {
    const topic = await topicWith()
    const schema = { properties: { a: { $ref: '#/components/schemas/__proto__' } } }
    const schemas = JSON.parse('{"__proto__":{"type":"string"}}')
    const given = { openapi: '3.1.0', webhooks: { a: operation(schema) }, components: { schemas } }
    expect((await importing(topic, given)).status).toBe(200)
    expect((await get(topic, 'a')).text).toContain('"$defs":{"__proto__":{"type":"string"}}')
  })

  test.each<[string, object, string]>([
    ['of another version', { ...document, openapi: '3.0.3' }, 'document.openapi must be 3.1'],
    ['without webhooks', { openapi: '3.1.0' }, 'document.webhooks must be an object'],
    [
      'with a bad name',
      { openapi: '3.1.0', webhooks: { 'a b': operation({}) } },
      'document.webhooks.a b has a name that must be',
    ],
    [
      'that refers to another one',
      { openapi: '3.1.0', webhooks: { a: operation({ items: { $ref: 'http://127.0.0.1/x' } }) } },
      'which is not in the document',
    ],
    [
      'that refers to nothing',
      { openapi: '3.1.0', webhooks: { a: operation({ $ref: '#/components/x' }) } },
      'where nothing is',
    ],
    [
      'that refers in a circle',
      { openapi: '3.1.0', webhooks: { a: { $ref: '#/webhooks/b' }, b: { $ref: '#/webhooks/a' } } },
      'lead in a circle',
    ],
    [
      'with a schema that is refused',
      { openapi: '3.1.0', webhooks: { a: operation({ typ: 1 }) } },
      'document.webhooks.a.schema.typ is not',
    ],
  ])('%s is refused, and nothing changes', async (_, given, message) => {
    const topic = await topicWith()
    const answer = await importing(topic, given)
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)])
    expect((await api.call('GET', `/v1/topics/${topic}/event-types`)).body).toEqual({ eventTypes: [] })
  })
})

test('an unknown type that a subscription chooses brings a warning, or is refused as a publish would be', async () => {
  const topic = await topicWith()
  const path = `/v1/topics/${topic}/subscriptions`
  const subscribe = (n: number, eventTypes: string[]) =>
    api.call('POST', path, { body: { endpoint: `https://example.com/${n}`, eventTypes } })
  // Without a catalogue, names mean what publishers say.
  expect((await subscribe(1, ['order.payd'])).body.warning).toBeUndefined()
  await put(topic, 'order.paid')
  const warned = await subscribe(2, ['order.payd', 'order.*', 'refund.*', '*'])
  expect([warned.status, warned.body.warning]).toEqual([
    201,
    'eventTypes: the topic has no type order.payd, refund.*',
  ])
  expect((await api.call('GET', `/v1/subscriptions/${warned.body.id}`)).body.warning).toBeUndefined()
  await api.call('PATCH', `/v1/topics/${topic}`, { body: { eventTypeCheck: 'refuse' } })
  const refused = await subscribe(3, ['order.paid', 'order.payd'])
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [{ path: 'eventTypes[1]', message: 'names order.payd, which the topic does not have' }],
  ])
  const change = (eventTypes: string[]) =>
    api.call('PATCH', `/v1/subscriptions/${warned.body.id}`, { body: { eventTypes } })
  expect((await change(['refund.made'])).status).toBe(400)
  // Earlier choices may stay, and a pattern may be for types to come.
  expect(await change(['order.payd', 'note.*'])).toMatchObject({
    status: 200,
    body: { warning: 'eventTypes: the topic has no type note.*' },
  })
})

test('a subscription shows the types that it has chosen, and the filter tester counts them in', async () => {
  const topic = await topicWith()
  const path = `/v1/topics/${topic}/subscriptions`
  const body = { endpoint: 'https://example.com/hook', eventTypes: ['order.*', 'note'] }
  const made = await api.call('POST', path, { body })
  expect(made.body.eventTypes).toEqual(['order.*', 'note'])
  const change = (eventTypes: unknown) =>
    api.call('PATCH', `/v1/subscriptions/${made.body.id}`, { body: { eventTypes } })
  expect((await change(['*'])).body.eventTypes).toEqual(['*'])
  expect((await change(null)).body.eventTypes).toBeNull()
  expect((await change([])).status).toBe(400)
  expect((await change(['order.*.paid'])).body.error.message).toContain('or end in .* or be *')
  const tried = await api.call('POST', '/v1/filter-policies/test', {
    body: { eventTypes: ['order.*'], message: { message: 'x', eventType: 'order.paid' } },
  })
  expect(tried.body).toMatchObject({ matched: true, clauses: [{ path: 'eventType', value: 'order.paid' }] })
})
