import { afterEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

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
})
