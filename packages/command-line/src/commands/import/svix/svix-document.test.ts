import { expect, test } from 'vitest'
import { Findings } from '../plan/findings.ts'
import { documentOf } from './svix-document.ts'
import { catalogueOf } from './svix-event-types.ts'
import type { SvixApplication, SvixEndpoint } from './svix-source.ts'
import { svixUrlOf } from './svix-source.ts'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

function endpoint(id: string, set: Partial<SvixEndpoint> = {}): SvixEndpoint {
  const url = `https://acme.example/${id}`
  return { id, url, key: SECRET, headers: {}, sensitive: [], isTransformed: false, ...set }
}

function application(
  uid: string,
  endpoints: SvixEndpoint[],
  set: Partial<SvixApplication> = {},
): SvixApplication {
  return { id: `app_${uid}`, uid, name: uid, endpoints, ...set }
}

function translated(...applications: SvixApplication[]) {
  const findings = new Findings()
  const { wanted, secrets } = documentOf(applications, [], findings)
  const texts = findings.sorted().map(({ text, objects }) => [text, ...objects])
  return {
    topics: wanted.topics,
    subscriptions: wanted.topics.flatMap((one) => one.subscriptions),
    secrets,
    texts,
  }
}

const about = (texts: string[][], pattern: RegExp) =>
  texts.find(([text = '']) => pattern.test(text))?.slice(1)
const names = (count: number) => Array.from({ length: count }, (_, n) => `type.${n}`)

test('event types come under either name, and many of them as a filter policy', () => {
  const { subscriptions, texts } = translated(
    application('acme', [
      endpoint('a', { eventTypes: ['x'] }),
      endpoint('b', { filterTypes: ['y'] }),
      endpoint('c', { eventTypes: names(60), channels: ['eu'] }),
      endpoint('d', { eventTypes: names(151) }),
      endpoint('e', { eventTypes: ['a b', 'z'] }),
      endpoint('f', { eventTypes: ['a b'] }),
    ]),
  )
  expect(
    subscriptions.map(({ settings: { eventTypes, filterPolicy } }) => [eventTypes, filterPolicy]),
  ).toEqual([
    [['x'], null],
    [['y'], null],
    [null, { channels: ['eu'], eventType: names(60) }],
    [['z'], null],
  ])
  expect(about(texts, /^endpoints that choose more than 150/)).toEqual(['acme d'])
  expect(about(texts, /^chosen event types/)).toEqual(['acme e', 'acme f'])
})

test('a second endpoint with the same address is distinguished, and the lower rate holds', () => {
  const url = 'https://acme.example/'
  const { subscriptions } = translated(
    application('acme', [endpoint('a', { url, throttleRate: 9 }), endpoint('b', { url, rateLimit: 3 })], {
      throttleRate: 5,
    }),
  )
  expect(subscriptions.map((one) => [one.endpoint, one.settings.deliveryPolicy])).toEqual([
    [url, { throttlePolicy: { maxReceivesPerSecond: 5 } }],
    [`${url}#b`, { throttlePolicy: { maxReceivesPerSecond: 3 } }],
  ])
})

test('neither the document nor a finding has a secret, and the mark changes with each of them', () => {
  const own = { url: 'https://user:hush@acme.example/', headers: { 'X-Key': 'hush', 'Content-Type': 'hush' } }
  const { topics, secrets, texts } = translated(application('acme', [endpoint('a', own)]))
  expect(JSON.stringify([topics, texts])).not.toMatch(/hush|whsec_/)
  expect(topics[0]?.subscriptions[0]?.endpoint).toBe('https://acme.example/')
  expect(secrets).toMatchObject([{ address: own.url, secret: SECRET, headers: { 'X-Key': 'hush' } }])
  expect(about(texts, /^headers: each/)).toEqual(['acme a Content-Type'])
  const marks = [
    own,
    { ...own, headers: {} },
    { ...own, url: 'https://acme.example/' },
    { key: `${SECRET}A` },
  ].map((set) => translated(application('acme', [endpoint('a', set)])).secrets[0]?.mark)
  expect(new Set(marks).size).toBe(4)
})

test('a finding names what Svix hides, what nothing stands for, and whose prefix covers another customer', () => {
  const hidden = { key: 'whpk_abc', sensitive: ['Authorization'], isTransformed: true, disabled: true }
  const { secrets, texts, topics } = translated(
    application('acme', [endpoint('a', hidden)], { metadata: { 'aws:x': 'y', plan: 'gold' } }),
    application('acme-events', []),
    application('a.b', []),
    application('a-b', []),
  )
  expect(secrets[0]).not.toHaveProperty('secret')
  for (const pattern of [/^secrets that Svix does not show/, /^transformations/, /^disabled/])
    expect(about(texts, pattern)).toEqual(['acme a'])
  expect(about(texts, /^headers whose values/)).toEqual(['acme a Authorization'])
  expect(about(texts, /^metadata of applications/)).toEqual(['acme'])
  expect(topics.map(({ name }) => name)).toEqual([
    'acme-events',
    'acme-events-events',
    'a-b-events',
    'app_a-b-events',
  ])
  expect(about(texts, /^the name of a topic begins/)).toEqual(['acme-events'])
})

test('earlier words of JSON Schema are replaced, and names of properties stay', async () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    definitions: { line: { type: 'string', nullable: true } },
    properties: { nullable: { $ref: '#/definitions/line' }, $id: { enum: [{ $id: 1 }] } },
  }
  const findings = new Findings()
  const given = { name: 'a', schemas: { 2: { type: 'array' }, 10: schema } }
  const [type] = await catalogueOf([given, { name: 'b', archived: true }], findings, async () => null)
  expect(type?.settings).toEqual({
    description: null,
    deprecated: false,
    examples: [],
    schema: {
      type: 'object',
      $defs: { line: { type: ['string', 'null'] } },
      properties: { nullable: { $ref: '#/$defs/line' }, $id: { enum: [{ $id: 1 }] } },
    },
  })
  expect(findings.sorted().map(({ objects }) => objects)).toEqual([['a'], ['b']])
})

test('a keyword that would set the prototype of an object is refused like other unknown ones', async () => {
  const checked: unknown[] = []
  const given = { name: 'a', schemas: { 1: JSON.parse('{"type":"object","__proto__":{}}') } }
  await catalogueOf([given], new Findings(), async ({ schema }) => {
    checked.push(JSON.stringify(schema))
    return null
  })
  expect(checked).toEqual(['{"type":"object","__proto__":{}}'])
})

test.each([
  ['sk_x', 'https://api.svix.com'],
  ['sk_x.eu', 'https://api.eu.svix.com'],
  ['sk_x.else', 'https://api.svix.com'],
])('the token %s belongs to %s', (token, url) => {
  expect(svixUrlOf(token)).toBe(url)
})
