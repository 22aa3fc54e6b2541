import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { createApp } from '../../server/app.ts'

const HOUR_S = 3_600

let api: TestApi
beforeEach(async () => {
  api = await startTestApi()
})
afterEach(() => api.stop())

async function advance(timeTravel: 'on' | 'off', body: unknown) {
  const advanced: [number, number][] = []
  const step = { realTime: 0, time: HOUR_S * 1_000, count: 2, due: ['lane a', 'log b'] }
  const travel = {
    advance: async (byMs: number, timeoutMs: number) => {
      advanced.push([byMs, timeoutMs])
      return { time: step.time, steps: [step] }
    },
  }
  const app = createApp({ ...api.deps, travel, settings: { ...api.deps.settings, timeTravel } })
  const headers = { 'Content-Type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await app.request('/v1/time/advance', request)
  return { status: response.status, body: (await response.json()) as unknown, advanced }
}

test('only a stack that was set up for it can be moved in time', async () => {
  const { status, body, advanced } = await advance('off', { seconds: HOUR_S })
  expect([status, advanced]).toEqual([404, []])
  expect(body).toMatchObject({ error: { code: 'not_found' } })
})

test('the answer has the time, and each step with what became due', async () => {
  const { status, body, advanced } = await advance('on', { seconds: HOUR_S })
  expect([status, advanced]).toEqual([200, [[HOUR_S * 1_000, 30_000]]])
  const time = '1970-01-01T01:00:00.000Z'
  const step = { realTime: '1970-01-01T00:00:00.000Z', time, count: 2, due: ['lane a', 'log b'] }
  expect(body).toEqual({ time, steps: 1, due: 2, way: [step] })
})

test.each([
  [{}, 'seconds'],
  [{ seconds: 0 }, 'seconds'],
  [{ seconds: -1 }, 'seconds'],
  [{ seconds: 31_536_001 }, 'seconds'],
  [{ seconds: 1, timeoutMs: 600_001 }, 'timeoutMs'],
  [{ seconds: 1, by: 2 }, 'by'],
])('%o is refused', async (given, path) => {
  const { status, body, advanced } = await advance('on', given)
  expect([status, advanced]).toEqual([400, []])
  expect(body).toMatchObject({ error: { code: 'validation_failed', details: [{ path }] } })
})
