import { afterEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
afterEach(() => api.stop())

const WHY = 'connect ECONNREFUSED 10.1.2.3:6379'

test.each([
  [false, WHY],
  [true, 'failed'],
])('with keys asked for (%s) what is not ready says %s', async (auth, told) => {
  api = await startTestApi({ auth })
  api.deps.checks.other = () => Promise.reject(new Error(WHY))
  const { status, body } = await api.call('GET', '/readyz')
  expect([status, body.checks]).toEqual([503, { redis: 'ok', other: told }])
  expect(body.status).toBe('unavailable')
})

test.each([false, true])('with keys asked for (%s) a process that is degraded says why', async (auth) => {
  api = await startTestApi({ auth })
  const degraded = [{ reason: 'eviction' as const, message: 'maxmemory-policy is allkeys-lru' }]
  api.deps.health.degradations = async () => degraded
  const { status, body } = await api.call('GET', '/readyz')
  expect([status, body]).toEqual([
    200,
    {
      status: 'degraded',
      checks: { redis: 'ok' },
      degraded,
      version: '1.2.3',
      commit: 'c0ffee',
      startedAt: expect.any(String),
    },
  ])
})
