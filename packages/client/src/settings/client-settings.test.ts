import { expect, test } from 'vitest'
import { type FantailOptions, readSettings } from './client-settings.ts'

const read = (options: FantailOptions = {}, environment: Record<string, string> = {}) =>
  readSettings(options, environment)

test('without settings a client calls the local stack by the standard mode', () => {
  expect(read()).toMatchObject({
    url: 'http://127.0.0.1:4100',
    apiKey: undefined,
    maxAttempts: 3,
    retryMode: 'standard',
    emptyQuota: 'fail',
    reachedRate: 'wait',
    timeoutMs: 30_000,
    deadlineMs: undefined,
  })
})

test('options go before our variables, and these before those of the AWS SDKs', () => {
  const aws = { AWS_MAX_ATTEMPTS: '5', AWS_RETRY_MODE: 'adaptive' }
  expect(read({}, aws)).toMatchObject({ maxAttempts: 5, retryMode: 'adaptive' })
  const own = { ...aws, FANTAIL_MAX_ATTEMPTS: '7', FANTAIL_RETRY_MODE: 'legacy' }
  expect(read({}, own)).toMatchObject({ maxAttempts: 7, retryMode: 'standard' })
  expect(read({ maxAttempts: 1, retryMode: 'adaptive' }, own)).toMatchObject({
    maxAttempts: 1,
    retryMode: 'adaptive',
  })
  const where = { FANTAIL_URL: 'https://fantail.example.com/api/', FANTAIL_API_KEY: 'ft_1_x' }
  expect(read({}, where)).toMatchObject({ url: 'https://fantail.example.com/api', apiKey: 'ft_1_x' })
})

test.each([
  [{}, { AWS_MAX_ATTEMPTS: '0' }, 'AWS_MAX_ATTEMPTS must be a whole number from 1'],
  [{}, { FANTAIL_MAX_ATTEMPTS: 'many' }, 'FANTAIL_MAX_ATTEMPTS must be a whole number from 1'],
  [{}, { AWS_RETRY_MODE: 'fast' }, 'AWS_RETRY_MODE must be standard, adaptive or legacy, not "fast"'],
  [{ maxAttempts: 1.5 }, {}, 'maxAttempts must be a whole number'],
  [{ timeoutMs: 0 }, {}, 'timeoutMs must be'],
  [{ deadlineMs: -1 }, {}, 'deadlineMs must be'],
  [{ emptyQuota: 'never' }, {}, 'emptyQuota must be fail or wait'],
  [{ reachedRate: 'never' }, {}, 'reachedRate must be wait or fail'],
  [{ url: 'fantail.example.com' }, {}, 'url must be an http or https URL'],
  [{ url: 'https://user:pass@fantail.example.com' }, {}, 'url must be a URL without user'],
] as const)('%j with %j is refused', (options, environment, message) => {
  expect(() => read(options as FantailOptions, environment)).toThrow(message)
})

test('a wrong key is refused without its text', () => {
  expect(() => read({ apiKey: 'ft_1_a\nb' })).toThrow(/^apiKey must be visible ASCII characters$/)
})
