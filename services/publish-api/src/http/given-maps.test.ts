/**
 * Names that the caller chooses. A name that has a special meaning in JavaScript's objects is refused or stored, never
 * dropped, and no table of ours answers to it.
 */
import type { Shape } from '@fantail/aws-wire'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { snsOperations, sqsOperations } from '../aws/aws-operations.ts'
import { answerTo } from '../fixtures/fuzzing.fixture.ts'
import { type Called, startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'
import type { Endpoint } from './endpoint.ts'

const FIRST = 0
let api: TestApi
/** Values for the parts of paths. */
const names: Record<string, string> = { topic: 'orders', queue: 'work', name: 'hook' }

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/work')
  const body = { endpoint: 'https://example.com/' }
  names.id = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body.id
})

afterAll(() => api.stop())

interface Schema {
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
}

/** Paths to the maps in a body: names of members, and `[]` for the items of a list. */
function mapsIn({ anyOf = [], properties = {}, additionalProperties, items }: Schema): string[][] {
  return [
    ...(typeof additionalProperties === 'object' ? [[]] : []),
    ...anyOf.flatMap(mapsIn),
    ...(items ? mapsIn(items).map((way) => ['[]', ...way]) : []),
    ...Object.entries(properties).flatMap(([name, member]) => mapsIn(member).map((way) => [name, ...way])),
  ]
}

const mapsOf = ({ body }: Endpoint) =>
  body ? mapsIn(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Schema) : []

/** JSON text, because an object literal would set the prototype. */
const textOf = (way: string[], value: string) =>
  way.reduceRight(
    (text, name) => (name === '[]' ? `[${text}]` : `{"${name}":${text}}`),
    `{"__proto__":${value}}`,
  )

const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? name)
const send = (method: string, path: string, body: string) =>
  api.call(method, fill(path), { body, headers: { 'Content-Type': 'application/json' } })

test('the key __proto__ is refused by name in every map but the content of a message', async () => {
  const refused = new Set<string>()
  for (const endpoint of endpointsOf(api.deps)) {
    for (const way of mapsOf(endpoint)) {
      if (way.at(-1) === 'message') continue
      const { method, path } = endpoint
      const { status, body } = await send(method, path, textOf(way, '"x"'))
      const named = way.join('.').replaceAll('.[]', `[${FIRST}]`)
      const problems = (body.error.details ?? []) as { path: string; message: string }[]
      const found = problems.filter((problem) => problem.path === `${named}.__proto__`)
      expect([method, path, named, status, found.map(({ message }) => message)]).toEqual([
        method,
        path,
        named,
        400,
        ['must have another name'],
      ])
      refused.add(named)
    }
  }
  expect([...refused].toSorted()).toEqual([
    'attributes',
    'document',
    'filterPolicy',
    'groupThrottle.overrides',
    'message.attributes',
    'messages[0].attributes',
    'metadata',
    'outbound.headers',
    'schema',
    'tags',
  ])
})

test.each([
  'deliveryPolicy',
  'redrivePolicy',
  'circuitBreaker',
  'outbound',
  'deliveryPolicy.healthyRetryPolicy',
])('it is no member of %s', async (member) => {
  const way = member.split('.')
  const { status, body } = await send('PATCH', '/v1/subscriptions/{id}', textOf(way, '{"maxDelayTarget":1}'))
  expect([status, JSON.stringify(body.error.details)]).toEqual([400, expect.stringContaining('__proto__')])
})

test('the content of a message keeps it, and so does what is inside of a filter', async () => {
  const content = '{"__proto__":1,"a":{"__proto__":2}}'
  expect((await send('POST', '/v1/topics/{topic}/messages', `{"message":${content}}`)).status).toBe(202)
  expect((await api.published()).map(({ message }) => message)).toEqual([content])
  await send('POST', '/v1/subscriptions/{id}/test', `{"message":${content}}`)
  expect(JSON.parse(api.attempts.at(-1)?.body ?? '')).toMatchObject({ Message: content })
  const filter = '{"a":{"__proto__":["x"]}}'
  const body = `{"filterPolicyScope":"MessageBody","filterPolicy":${filter}}`
  expect((await send('PATCH', '/v1/subscriptions/{id}', body)).text).toContain(`"filterPolicy":${filter}`)
  const tried = await send(
    'POST',
    '/v1/filter-policies/test',
    `{${body.slice(1, -1)},"message":{"message":{"a":{"__proto__":"x"}}}}`,
  )
  expect(tried.body.matched).toBe(true)
})

/** An answer to a program that has another form than it should; '' if it is right. */
function wrongForm({ status, body, text }: Called, { answers }: Endpoint): string {
  if (status >= 500) return `${status} ${text}`
  if (status < 400 || answers[status]?.contentType) return ''
  const { code, message, details = [] } = body?.error ?? {}
  const words = [code, message, ...details.flatMap(Object.values)]
  return words.every((word) => typeof word === 'string') ? '' : text
}

test('a name that every object inherits gets an answer in text, in the query, body and path of every route', async () => {
  const inherited = Object.getOwnPropertyNames(Object.prototype)
  const query = inherited.map((name) => `${name}=1`).join('&')
  const members = `{${inherited.map((name) => `"${name}":1`).join()}}`
  for (const endpoint of endpointsOf(api.deps)) {
    const { method, path, body } = endpoint
    const wrong = async (url: string, json = '{}') => {
      const headers = { 'Content-Type': 'application/json' }
      const options = method === 'GET' ? {} : { body: json, headers }
      return wrongForm(await answerTo(`${method} ${url}`, () => api.call(method, url, options)), endpoint)
    }
    const found = {
      query: await wrong(`${fill(path)}?${query}`),
      body: body ? await wrong(fill(path), members) : '',
      path: (await Promise.all(inherited.map((name) => wrong(path.replace(/\{\w+\}/g, name))))).join(''),
    }
    expect([method, path, found]).toEqual([method, path, { query: '', body: '', path: '' }])
  }
})

/** A value of the shape in which each text, and each key of a map, is the word. Pairs as AWS Query writes them. */
function worded(path: string, shape: Shape, word: string): [string, string][] {
  if (shape === 'blob') return [[path, 'aGk=']]
  if (typeof shape === 'string') return [[path, { string: word, integer: '1', boolean: 'true' }[shape]]]
  const at = (list: string) => `${path}${'flat' in shape && shape.flat !== undefined ? '' : `.${list}`}.1`
  if ('list' in shape) return worded(at('member'), shape.list, word)
  if ('struct' in shape)
    return Object.entries(shape.struct).flatMap(([name, one]) =>
      worded(`${path}.${wireName(name, one)}`, one, word),
    )
  const { key, value } = shape.entry ?? { key: 'key', value: 'value' }
  const entry = at('entry')
  return [[`${entry}.${key}`, word], ...worded(`${entry}.${value}`, shape.map, word)]
}

const wireName = (name: string, shape: Shape) =>
  (typeof shape === 'object' && 'flat' in shape && shape.flat) || name

test('the AWS protocols know none of them as an operation, an attribute or another word', async () => {
  const right: Record<string, string> = {
    ...{ TopicArn: 'arn:aws:sns:us-east-1:000000000000:orders', QueueUrl: '/000000000000/work' },
    ...{ Message: 'x', MessageBody: 'x', Name: 'orders', QueueName: 'work', ReceiptHandle: 'x' },
  }
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const called = async (pairs: [string, string][], what = '') => {
    const body = new URLSearchParams(pairs).toString()
    const { status, text } = await answerTo(body, () => api.call('POST', '/', { body, headers: form }))
    const isRefused = text.includes('<Type>Sender</Type>')
    const isRight = isRefused || (status === 200 && !/^(Set|Create).* attribute(s|Name)$/i.test(what))
    expect([body, isRight, text]).toEqual([body, true, expect.not.stringMatching(/native code|\[object/)])
  }
  for (const word of ['constructor', '__proto__', 'toString']) {
    for (const [Version, operations] of [
      ['2010-03-31', snsOperations(api.deps)],
      ['2012-11-05', sqsOperations(api.deps)],
    ] as const) {
      await called(Object.entries({ Action: word, Version }))
      for (const { name: Action, input } of operations) {
        for (const [member, shape] of Object.entries(input)) {
          const others = Object.entries(right).filter(([one]) => one in input && one !== member)
          const pairs = worded(wireName(member, shape), shape, word)
          await called([...Object.entries({ Action, Version }), ...others, ...pairs], `${Action} ${member}`)
        }
      }
    }
    const headers = { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `AmazonSQS.${word}` }
    expect((await api.call('POST', '/', { body: '{}', headers })).text).toContain('UnknownOperationException')
  }
})
