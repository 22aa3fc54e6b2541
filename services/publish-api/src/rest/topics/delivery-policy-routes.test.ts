import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/brief', { body: { retentionSeconds: 3_600 } })
})
afterAll(() => api.stop())

const preview = async (deliveryPolicy: unknown, set = {}) =>
  (await api.call('POST', '/v1/delivery-policies/preview', { body: { deliveryPolicy, ...set } })).body

test('a preset is about as long as it says, and the preview lists all of them', async () => {
  const { presets } = await preview(null)
  const lengths = presets.map(({ name, totalSeconds }: { name: string; totalSeconds: number }) => [
    name,
    Math.round(totalSeconds / 60),
  ])
  expect(lengths).toEqual([
    ['quick', 1],
    ['steady', 58],
    ['patient', 1_405],
  ])
  const patient = await preview({ healthyRetryPolicy: { preset: 'patient' } })
  const delays = patient.retries.map(({ delaySeconds }: { delaySeconds: number }) => delaySeconds)
  expect(delays).toEqual(delays.toSorted((a: number, b: number) => a - b))
  expect([delays.length, delays[0], delays.at(-1)]).toEqual([40, 5, 3_600])
  const shorter = await preview({ healthyRetryPolicy: { preset: 'patient', numRetries: 25 } })
  expect(shorter.retries).toHaveLength(25)
})

test('members that a retry policy leaves out are taken from the default', async () => {
  const { retries, totalSeconds } = await preview({ healthyRetryPolicy: { numRetries: 2 } })
  expect([retries.length, totalSeconds]).toEqual([2, 40])
  const refused = await preview({ healthyRetryPolicy: { minDelayTarget: 30 } })
  expect(refused.error.details).toEqual([
    {
      path: 'deliveryPolicy.healthyRetryPolicy.minDelayTarget',
      message: 'must be less than or equal to maxDelayTarget, which is 20 unless given',
    },
  ])
})

test('a policy may be longer than the topic keeps messages, and the preview says which ends first', async () => {
  const healthyRetryPolicy = { minDelayTarget: 1_800, maxDelayTarget: 7_200, numRetries: 3 }
  expect(await preview({ healthyRetryPolicy })).toMatchObject({
    totalSeconds: 13_500,
    retentionSeconds: 345_600,
    retentionEndsFirst: false,
  })
  expect(await preview({ healthyRetryPolicy }, { topic: 'brief' })).toMatchObject({
    retentionSeconds: 3_600,
    retentionEndsFirst: true,
  })
  const endpoint = 'https://example.com/long'
  const deliveryPolicy = { healthyRetryPolicy }
  const { body } = await api.call('POST', '/v1/topics/brief/subscriptions', {
    body: { endpoint, deliveryPolicy },
  })
  expect(body.onFailure).toBe(
    'after 1 h, when the topic’s retention ends, before the last of 4 attempts: to brief-dead-letters; at once if refused permanently',
  )
  const tooLong = await preview({
    healthyRetryPolicy: { minDelayTarget: 1_209_600, maxDelayTarget: 1_209_600 },
  })
  expect(tooLong.error.details[0].message).toContain('1209600 seconds in total, not 3628800')
})

test.each([
  [
    { healthyRetryPolicy: { preset: 'eager' } },
    'healthyRetryPolicy.preset must be one of quick, steady, patient',
  ],
  [
    { healthyRetryPolicy: { retryOn: [200] } },
    'healthyRetryPolicy.retryOn must list statuses other than 2xx',
  ],
  [{ healthyRetryPolicy: { retryOn: '5xx' } }, 'healthyRetryPolicy.retryOn must be a list'],
  [
    { throttlePolicy: { maxReceivesPerSecond: 2.5 } },
    'maxReceivesPerSecond must be a whole number from 1 on, or less than 1',
  ],
  [
    { throttlePolicy: { maxReceivesPerSecond: 0 } },
    'maxReceivesPerSecond must be greater than or equal to 0.001',
  ],
])('%j is refused', async (policy, problem) => {
  const { error } = await preview(policy)
  const [{ path, message }] = error.details
  expect(`${path} ${message}`).toContain(problem)
})
