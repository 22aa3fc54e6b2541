import type { DeadLetter } from '@fantail/contracts'
import { Processes, readTotals } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
let admin: TestKey

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'redrive'])
  for (const name of ['orders', 'mine']) {
    await admin.call('PUT', `/v1/topics/${name}`)
    await admin.call('PUT', `/v1/queues/${name}-dlq`)
    await deadLetter(`${name}-dlq`)
    for (const n of [1, 2]) await subscribe(name, { endpoint: `https://example.com/${name}/${n}` })
  }
  await deadLetter('orders-dlq')
  await subscribe('orders', { endpoint: 'https://example.com/new', confirmation: 'handshake' })
})
afterAll(() => api.stop())

const subscribe = (topic: string, body: object) =>
  admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })

async function deadLetter(queue: string): Promise<void> {
  const arn = `arn:aws:sqs:us-east-1:000000000000:${queue}`
  const letter: DeadLetter = {
    reason: 'permanent',
    statusCode: 404,
    lastError: null,
    attempts: 1,
    subscriptionArn: 'arn:aws:sns:us-east-1:000000000000:orders:0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
    topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
    messageId: '01a1fbe2-80fa-72ab-bc08-d682f311b524',
    generation: 0,
    message: {} as DeadLetter['message'],
    publishedAt: Date.now(),
    deadLetteredAt: Date.now(),
  }
  await api.deps.queues.send(arn, [{ body: 'x', deadLetter: letter }])
}

test('the overview has totals, what needs attention, dead letters and memory', async () => {
  const { body } = await admin.call('GET', '/v1/overview')
  expect(body).toMatchObject({
    ...{ version: '1.2.3', complete: true, topics: 2, subscriptions: 5, queues: 2, activeRedrives: 0 },
    ...{ inNeed: 1, verdicts: { pending: 1 }, deadLetters: 3 },
    problems: [{ host: 'example.com', lanes: 1, waiting: 1, worst: { verdict: { code: 'pending' } } }],
    fullest: [
      { queueArn: expect.stringContaining('orders-dlq'), deadLetters: 2 },
      { queueArn: expect.stringContaining('mine-dlq'), deadLetters: 1 },
    ],
  })
  expect(body.memory.usedBytes).toBeGreaterThan(0)
  expect(body.memory.watermarkBytes / body.memory.limitBytes).toBeCloseTo(0.75, 3)
})

test('a bound key sees figures of its own names, and no memory', async () => {
  const { body } = await (await keyWith(api, ['read'], { prefixes: ['mine'] })).call('GET', '/v1/overview')
  expect(body).toMatchObject({
    topics: 1,
    subscriptions: 2,
    queues: 1,
    inNeed: 0,
    deadLetters: 1,
    memory: null,
  })
  const other = await keyWith(api, ['read'], { account: '111111111111' })
  expect((await other.call('GET', '/v1/overview')).body).toMatchObject({ topics: 0, queues: 0, memory: null })
})

test('lanes of one host with the same verdict are one problem, and hide no other', async () => {
  for (const n of [1, 2, 3, 4])
    await subscribe('orders', { endpoint: `https://crm.example.com/${n}`, confirmation: 'handshake' })
  // All lanes of a problem count, so the host with more of them soon comes first, although its lanes are younger.
  const found = await waitFor(async () => {
    const { body } = await admin.call('GET', '/v1/overview')
    const shown: { host: string; lanes: number }[] = body.problems
    return shown[0]?.host === 'crm.example.com' ? shown : undefined
  })
  expect(found.map(({ host, lanes }) => [host, lanes])).toEqual([
    ['crm.example.com', 4],
    ['example.com', 1],
  ])
})

test('a redrive under way is counted, and totals that leave something out say so', async () => {
  await admin.call('POST', '/v1/redrives', { body: { source: 'orders-dlq', destination: 'mine-dlq' } })
  expect((await admin.call('GET', '/v1/overview')).body.activeRedrives).toBe(1)
  expect(await readTotals(api.redis, { perShardMax: 0 })).toMatchObject({ topics: [], isComplete: false })
})

test('processes are listed for keys that may see the server, and for no others', async () => {
  const report = { id: 'p1', role: 'redrive', version: '1.2.3', commit: 'c0ffee', host: 'h', pid: 7 }
  const sample = {
    mode: 'server' as const,
    startedAt: '2026-11-21T09:30:00.000Z',
    slots: null,
    load: 0.1,
    lagMs: 1,
  }
  await new Processes(api.redis).report({ ...report, ...sample })
  const { body } = await admin.call('GET', '/v1/services')
  const known = { format: 1, capabilities: [] }
  expect(body.processes).toEqual([
    { ...report, ...sample, ...known, lastSeenAt: expect.stringMatching(/Z$/) },
  ])
  expect(body.data).toEqual(known)
  for (const set of [{ prefixes: ['mine'] }, { account: '111111111111' }]) {
    expect(await (await keyWith(api, ['read'], set)).status('GET', '/v1/services')).toBe(403)
  }
})
