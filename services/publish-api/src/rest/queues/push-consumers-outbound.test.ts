/** Outbound settings of a push consumer: accepted, changed, shown without secrets, and stored sealed. */
import { openPushConsumer } from '@fantail/delivery'
import { createAuthority } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const SECRET = 's3cret-that-must-stay'
const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:jobs'
const PATH = '/v1/queues/jobs/consumers/hook'
const authority = createAuthority()
const client = authority.issue(['client.example'])
const OUTBOUND = {
  proxy: `http://user:${SECRET}@proxy.example:3128`,
  clientCertificate: { certificate: client.cert, privateKey: client.key },
  ca: authority.cert,
  headers: { 'X-Api-Key': SECRET },
}
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  await api.redis.flushall()
  await api.call('PUT', '/v1/queues/jobs')
})
afterAll(() => api.stop())

const put = (body: object) => api.call('PUT', PATH, { body })
const patch = (body: object) => api.call('PATCH', PATH, { body })

async function reached() {
  const found = await api.deps.pushConsumers.get(QUEUE, 'hook')
  if (!found) throw new Error('no such consumer')
  return openPushConsumer(found.consumer, api.deps.vault)
}

async function everything(): Promise<string> {
  const dumps = await Promise.all((await api.redis.keys('*')).map((key) => api.redis.dumpBuffer(key)))
  return Buffer.concat(dumps.map((dump) => dump ?? Buffer.alloc(0))).toString('latin1')
}

test('its secrets are in no answer, log line or key, and all there for the worker', async () => {
  const url = `https://user:${SECRET}@hook.example/in`
  const made = await put({ url, outbound: OUTBOUND })
  expect(made.status).toBe(201)
  const shown = {
    url: 'https://user:****@hook.example/in',
    outbound: {
      proxy: 'http://user:****@proxy.example:3128',
      clientCertificate: { certificate: client.cert },
      ca: authority.cert,
      headers: ['X-Api-Key'],
    },
  }
  const answers = [made, await put({}), await patch({ batchSize: 3 }), await api.call('GET', PATH)]
  for (const { body } of answers) expect(body).toMatchObject(shown)
  const list = await api.call('GET', '/v1/queues/jobs/consumers')
  const texts = [...answers, list].map(({ text }) => text)
  const key = client.key.split('\n')[1] ?? ''
  for (const text of [...texts, JSON.stringify(api.events), await everything()]) {
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(key)
  }
  expect(await reached()).toEqual({ url, ...OUTBOUND })
})

test('members are set one by one, and null resets them; the URL is changed beside them', async () => {
  const url = 'https://hook.example/in'
  await put({ url, outbound: { headers: { 'X-Api-Key': SECRET }, ca: authority.cert } })
  const { body } = await patch({ outbound: { proxy: 'http://proxy.example:3128' } })
  expect(body.outbound).toMatchObject({ proxy: 'http://proxy.example:3128', headers: ['X-Api-Key'] })
  await patch({ url: 'https://hook.example/other', outbound: { ca: null } })
  expect(await reached()).toMatchObject({
    url: 'https://hook.example/other',
    headers: { 'X-Api-Key': SECRET },
    ca: undefined,
  })
  expect((await patch({ outbound: null })).body).toMatchObject({
    url: 'https://hook.example/other',
    outbound: null,
  })
  expect((await api.deps.pushConsumers.get(QUEUE, 'hook'))?.consumer.sealed).toBeNull()
  await patch({ outbound: { headers: { Authorization: 'Bearer x' } } })
  const both = await patch({ url: 'https://user:word@hook.example/' })
  expect([both.status, both.body.error.details[0].path]).toEqual([400, 'outbound.headers'])
})

test('secrets that are never shown are sent to no other origin without being given again', async () => {
  const outbound = { headers: { 'X-Api-Key': SECRET }, proxy: OUTBOUND.proxy }
  await put({ url: 'https://hook.example/in', outbound })
  const stolen = 'https://evil.example/in'
  const partly = { headers: { 'X-Api-Key': 'mine' } }
  for (const body of [{ url: stolen }, { url: stolen, outbound: {} }, { url: stolen, outbound: partly }]) {
    for (const answer of [await patch(body), await put(body)])
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, 'url'])
  }
  expect((await reached()).url).toBe('https://hook.example/in')
  expect((await patch({ url: stolen, outbound: { ...partly, proxy: null } })).status).toBe(200)
  expect(await reached()).toEqual({ url: stolen, headers: { 'X-Api-Key': 'mine' } })
  expect((await patch({ url: 'https://third.example/', outbound: null })).status).toBe(200)
})

test('without a master key no secret is taken, and what is sealed can still be replaced whole', async () => {
  const { vault } = api.deps
  await put({ url: 'https://hook.example/in', outbound: OUTBOUND })
  api.deps.vault = undefined
  try {
    const refused = await patch({ outbound: { headers: { 'X-Api-Key': 'k' } } })
    expect([refused.status, refused.text.includes(SECRET)]).toEqual([409, false])
    const none = await put({ url: 'https://hook.example/in', outbound: { headers: { 'X-Api-Key': 'k' } } })
    expect(none.status).toBe(409)
    expect((await put({ url: 'https://hook.example/in', outbound: null })).status).toBe(200)
    const late = await patch({ outbound: { headers: { 'X-Api-Key': 'k' } } })
    expect([late.status, late.body.error.details[0].path]).toEqual([400, 'outbound'])
    expect((await patch({ outbound: { ca: authority.cert } })).status).toBe(200)
  } finally {
    api.deps.vault = vault
  }
})
