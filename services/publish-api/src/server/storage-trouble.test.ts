import { startFairTimer, waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { type Called, startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

let api: TestApi

afterEach(() => api.stop())

const publish = () => api.call('POST', '/v1/topics/orders/messages', { body: { message: 'x' } })

/** The answer, and how long it took. */
async function timed(call: Promise<Called>): Promise<Called & { ms: number }> {
  const took = startFairTimer(api.server.pid())
  return { ...(await call), ms: took() }
}

test('a Redis that does not answer is 503 on every route within two seconds, and needs no restart', async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  await api.server.freeze()
  const answers = await Promise.all([
    timed(publish()),
    timed(api.call('GET', '/v1/topics/orders')),
    timed(api.call('GET', '/v1/queues')),
    timed(api.call('PUT', '/v1/topics/new')),
    timed(api.call('GET', '/v1/redrives')),
  ])
  for (const { status, body, headers, ms } of answers) {
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'storage_unavailable', '1'])
    expect(ms).toBeLessThan(2_200)
  }
  const ready = await api.call('GET', '/readyz')
  expect([ready.status, (await api.call('GET', '/healthz')).status]).toEqual([503, 200])
  expect(ready.body.checks.redis).not.toBe('ok')
  const link = await api.call(
    'GET',
    `/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:us-east-1:000000000000:orders&Token=${'0'.repeat(288)}`,
  )
  expect([link.status, link.headers.get('retry-after')]).toEqual([503, '1'])
  expect(link.text).toContain('<Type>Receiver</Type><Code>ServiceUnavailable</Code>')
  await api.server.thaw()
  await waitFor(async () => (await publish()).status === 202, { what: 'publishing to work again' })
})

test('a Redis that is gone is 503 until it is back', async () => {
  api = await startTestApi({ appendfsync: 'always' })
  await api.call('PUT', '/v1/topics/orders')
  await api.server.kill()
  const answer = await timed(publish())
  expect([answer.status, answer.body.error.code]).toEqual([503, 'storage_unavailable'])
  expect(answer.ms).toBeLessThan(2_500)
  await api.server.restart()
  await waitFor(async () => (await publish()).status === 202, { what: 'publishing to work again' })
})

test('past three quarters of its memory nothing that grows is taken in, and everything else works', async () => {
  api = await startTestApi({ args: ['--maxmemory', '32mb'] })
  await api.call('PUT', '/v1/topics/orders', { body: { displayName: 'empty' } })
  await api.call('PUT', '/v1/queues/work')
  expect((await publish()).status).toBe(202)
  await api.redis.setrange('ballast', 25_500_000, 'x')
  // On a busy machine a slow Redis may cause another error first, so the call is repeated.
  const untilFull = (call: () => Promise<Called>) => {
    const refusal = async () => {
      const answer = await call()
      return answer.body.error?.code === 'storage_full' ? answer : undefined
    }
    return waitFor(refusal, { what: 'a refusal' })
  }
  const refused = await untilFull(publish)
  const sent = await untilFull(() => api.call('POST', '/v1/queues/work/messages', { body: { body: 'x' } }))
  for (const { status, body, headers } of [refused, sent]) {
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'storage_full', '5'])
  }
  expect((await api.call('PATCH', '/v1/topics/orders', { body: { displayName: 'full' } })).status).toBe(200)
  await api.redis.del('ballast')
  await waitFor(async () => (await publish()).status === 202, { what: 'publishing to work again' })
})
