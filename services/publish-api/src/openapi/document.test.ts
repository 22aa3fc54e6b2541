import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../server/app.ts'

type Json = Record<string, unknown>

interface Operation {
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  responses: Record<string, Json>
}

interface Document {
  openapi: string
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

let api: TestApi
let document: Document
let operations: [route: string, operation: Operation][]

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  document = (await api.call('GET', '/openapi.json')).body
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  )
})

afterAll(() => api.stop())

test('every route that is mounted is in the document, and no other', () => {
  const routed = createApp(api.deps).routes.map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
  )
  // Routes that the router does not know. They are tried when it finds none.
  const others = endpointsOf(api.deps).filter(({ where }) => where !== undefined)
  const mounted = [...routed, ...others.map(({ method, path }) => `${method} ${path}`)]
  // The pages of console and portal are only for people.
  const documented = mounted.filter((route) => !/^GET \/(console|portal)/.test(route))
  expect(operations.map(([route]) => route).sort()).toEqual(documented.sort())
  expect(document.openapi).toBe('3.1.0')
})

test('every operation has its path parameters, an answer and its errors', () => {
  for (const [route, { parameters, responses }] of operations) {
    const named = Array.from(route.matchAll(/\{(\w+)\}/g), ([, name]) => name)
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(named)
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['500']))
    expect(Object.keys(responses).some((status) => status.startsWith('2'))).toBe(true)
  }
  const publish = document.paths['/v1/topics/{topic}/messages']?.post
  expect(Object.keys(publish?.responses ?? {})).toEqual([
    '202',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '415',
    '429',
    '500',
    '503',
  ])
})

test('an operation that needs a key says so, with its scope; public pages do not', () => {
  const documented = Object.fromEntries(operations) as unknown as Record<string, Json & { responses: Json }>
  const publish = documented['POST /v1/topics/{topic}/messages']
  expect(publish).toMatchObject({
    security: [{ apiKey: [] }, { session: [] }],
    description: expect.stringContaining('A key needs the scope `publish`.'),
  })
  for (const [route, { security, responses }] of Object.entries(documented)) {
    const open =
      (!route.includes('/v1/') && route !== 'GET /metrics') ||
      ['POST /v1/session', 'POST /v1/portal/session'].includes(route)
    const signed = /^(GET|POST) \/(\{account\}\/\{queue\})?$/.test(route)
    const keyed = route.includes('/v1/portal/') ? [{ portalSession: [] }] : [{ apiKey: [] }, { session: [] }]
    const expected = signed ? [{}, { awsSignature: [] }] : open ? [] : keyed
    expect([route, security]).toEqual([route, expected])
    if (!open) expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403', '429']))
  }
  expect((document.components as Json).securitySchemes).toMatchObject({
    apiKey: { type: 'http', scheme: 'bearer' },
    session: { type: 'apiKey', in: 'cookie' },
    awsSignature: { type: 'apiKey', in: 'header', name: 'Authorization' },
  })
})

test('without keys, a key may be sent and no request is refused for lack of one', async () => {
  const local = await startTestApi()
  try {
    const { body } = await local.call('GET', '/openapi.json')
    const publish = body.paths['/v1/topics/{topic}/messages'].post
    expect(publish.security).toEqual([{}, { apiKey: [] }])
    expect(Object.keys(publish.responses)).toEqual(expect.arrayContaining(['403']))
    expect(Object.keys(publish.responses)).not.toContain('401')
    expect(Object.keys(body.paths['/healthz'].get.responses)).toContain('403')
    expect(Object.keys(body.paths)).toEqual(Object.keys(document.paths))
    const headers = { Authorization: 'Bearer any' }
    expect((await local.call('GET', '/v1/topics', { headers })).status).toBe(200)
  } finally {
    await local.stop()
  }
})

test('the commands of the introduction run', async () => {
  const local = await startTestApi()
  try {
    const commands = document.info.description.match(/^curl .*$/gm) ?? []
    const statuses: number[] = []
    for (const command of commands) {
      const [, , method = 'GET', path = ''] =
        /^curl -sS (-X (\w+) )?http:\/\/127\.0\.0\.1:4100(\S+)/.exec(command) ?? []
      const body = / -d '(.*)'$/.exec(command)?.[1]
      const options = body === undefined ? {} : { body: JSON.parse(body) }
      statuses.push((await local.call(method, path, options)).status)
    }
    expect(statuses).toEqual([201, 201, 202, 200])
  } finally {
    await local.stop()
  }
})

test('the document has members’ bounds, policies, and queries as numbers', () => {
  const { TopicInput, DeliveryPolicyInput } = document.components.schemas
  const text = JSON.stringify([TopicInput, DeliveryPolicyInput])
  expect(text).toContain('"additionalProperties":false')
  expect(text).toContain('"maxReceivesPerSecond"')
  expect(text).toContain('"maximum":1209600')
  const limit = document.paths['/v1/topics']?.get?.parameters.find(({ name }) => name === 'limit')
  expect(limit).toMatchObject({
    in: 'query',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 100 },
  })
})

/** Every schema within the value, without examples. */
function schemasIn(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).filter(([name]) => name !== 'examples')
  return [value as Json, ...inner.flatMap(([, one]) => schemasIn(one))]
}

test('generators of clients find a name for each object of a union, and the width of each number', () => {
  const schemas = schemasIn(document.components.schemas)
  const unions = schemas.flatMap(({ anyOf }) => (Array.isArray(anyOf) ? [anyOf as Json[]] : []))
  const choices = unions.map((union) => union.filter(({ type }) => type !== 'null'))
  const unnamed = choices.filter(
    (choice) => choice.length > 1 && choice.some(({ type }) => type === 'object'),
  )
  const isMixed = ({ type }: Json) => Array.isArray(type) && type.filter((one) => one !== 'null').length > 1
  expect(choices.length).toBeGreaterThan(50)
  expect([unnamed, schemas.filter(isMixed)]).toEqual([[], []])
  expect(schemas.filter(({ type, format }) => type === 'number' && format !== 'double')).toEqual([])
})

test('the page and everything it loads come from here, and nothing else may run', async () => {
  const page = await api.call('GET', '/docs')
  const sources = Array.from(page.text.matchAll(/(?:src|href)="([^"]+)"/g), ([, source]) => source ?? '')
  expect(sources).toEqual(['/_assets/scalar.js', '/_assets/docs.js'])
  expect(page.text).not.toMatch(/<script>|<style|onload=/)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).toContain("script-src 'self';")
  expect(policy).not.toContain('http')
  for (const source of sources) {
    const asset = await api.call('GET', source)
    expect([source, asset.status, asset.headers.get('content-type')]).toEqual([
      source,
      200,
      'text/javascript; charset=utf-8',
    ])
  }
})
