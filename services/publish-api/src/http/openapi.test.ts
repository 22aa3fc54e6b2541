import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, endpointsOf } from '../app.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

type Json = Record<string, unknown>

interface Operation {
  operationId: string
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>
}

interface Document {
  openapi: string
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
  // Those the router does not know: they are asked where it knows nothing.
  const others = endpointsOf(api.deps).filter(({ where }) => where !== undefined)
  const mounted = [...routed, ...others.map(({ method, path }) => `${method} ${path}`)]
  expect(operations.map(([route]) => route).sort()).toEqual(mounted.sort())
  expect(document.openapi).toBe('3.1.0')
})

test('every operation has its own id, its path parameters, an answer and its errors', () => {
  const ids = operations.map(([, { operationId }]) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(document.paths['/v1/subscriptions/{id}/webhook-keys']?.get?.operationId).toBe(
    'getSubscriptionsIdWebhookKeys',
  )
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

test('every example of a body is one that is taken', () => {
  const bodies = endpointsOf(api.deps).flatMap(({ method, path, body }) =>
    ((body?.meta()?.examples ?? []) as unknown[]).map((example) => ({
      route: `${method} ${path}`,
      body,
      example,
    })),
  )
  expect(bodies.map(({ route }) => route)).toContain('POST /v1/topics/{topic}/messages')
  expect(bodies.filter(({ body, example }) => !body?.safeParse(example).success)).toEqual([])
  for (const { route, example } of bodies) {
    const [method = '', path = ''] = route.split(' ')
    const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content
    expect(content?.['application/json']?.schema.examples).toEqual([example])
  }
})

test('what asks for a key says so, with the scope that it needs, and public pages do not', () => {
  const documented = Object.fromEntries(operations) as unknown as Record<string, Json & { responses: Json }>
  const publish = documented['POST /v1/topics/{topic}/messages']
  expect(publish).toMatchObject({
    security: [{ key: [] }],
    description: expect.stringContaining('A key needs the scope `publish`.'),
  })
  for (const [route, { security, responses }] of Object.entries(documented)) {
    const open = !route.includes('/v1/') && route !== 'GET /metrics'
    expect([route, security]).toEqual([route, open ? undefined : [{ key: [] }]])
    if (!open) expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403', '429']))
  }
  expect((document.components as Json).securitySchemes).toMatchObject({
    key: { type: 'http', scheme: 'bearer' },
  })
})

test('where no keys are asked for, the document speaks of none', async () => {
  const local = await startTestApi()
  try {
    const { body } = await local.call('GET', '/openapi.json')
    expect(body.components).not.toHaveProperty('securitySchemes')
    const publish = body.paths['/v1/topics/{topic}/messages'].post
    expect(publish).not.toHaveProperty('security')
    expect(Object.keys(publish.responses)).toEqual(expect.arrayContaining(['403']))
    expect(Object.keys(publish.responses)).not.toContain('401')
    expect(Object.keys(body.paths)).toEqual(Object.keys(document.paths))
  } finally {
    await local.stop()
  }
})

test('every reference leads somewhere', () => {
  const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? []
  expect(references.length).toBeGreaterThan(20)
  for (const reference of references) {
    const name = /^"\$ref":"#\/components\/schemas\/(\w+)"$/.exec(reference)?.[1]
    expect([reference, document.components.schemas[name ?? '']]).toEqual([reference, expect.any(Object)])
  }
})

test('what a member may be stands in the document: bounds, policies, queries as numbers', () => {
  const put = document.paths['/v1/topics/{topic}']?.put?.requestBody?.content['application/json']?.schema
  const text = JSON.stringify(put)
  expect(text).toContain('"additionalProperties":false')
  expect(text).toContain('"maxReceivesPerSecond"')
  expect(text).toContain('"maximum":1209600')
  const limit = document.paths['/v1/topics']?.get?.parameters.find(({ name }) => name === 'limit')
  expect(limit).toMatchObject({
    in: 'query',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 100 },
  })
  expect(endpointsOf(api.deps).every(({ summary }) => summary.length > 10)).toBe(true)
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
