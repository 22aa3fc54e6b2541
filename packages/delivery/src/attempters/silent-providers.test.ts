/** A provider that answers nothing gets few requests, and other providers of its kind get all of theirs. */
import type { AttemptResult } from '@fantail/contracts'
import { firebaseCredential, waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EndpointTarget } from '../envelope/target.ts'
import { FunctionCalls } from '../functions/function-calls.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { createDevice, startProviders } from '../mobile-push/mobile-push.fixture.ts'
import { createStreamAttempter } from './stream-attempter.ts'

const SILENT_MS = 2_001
/** Requests that a silent provider may have at a time. */
const LIMIT = 20

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Requests to hosts that begin with `hung` are answered only by `answerAll`. */
function createHalfHungSender(answer: Partial<AttemptResult> = {}) {
  const response = { kind: 'response', statusCode: 202, durationMs: 1, ...answer } as AttemptResult
  const waiting: (() => void)[] = []
  const counts = { hung: 0, healthy: 0 }
  const send = ({ url }: Pick<HttpRequest, 'url'>, done: (result: AttemptResult) => void) => {
    const isHung = new URL(url).host.startsWith('hung')
    counts[isHung ? 'hung' : 'healthy']++
    if (isHung) waiting.push(() => done(response))
    else setImmediate(done, response)
  }
  const answerAll = () => {
    for (const end of waiting.splice(0)) end()
  }
  return { sender: { send } as never, counts, answerAll }
}

/**
 * `begin` makes one attempt at the hung provider. Resolves with the errors of the attempts that were refused at once.
 */
async function crowd(begin: () => Promise<AttemptResult>, n: number): Promise<string[]> {
  const errors: string[] = []
  for (let i = 0; i < n; i++) {
    void begin().then((result) => errors.push(result.kind === 'failure' ? result.error : result.kind))
  }
  await waitFor(() => errors.length > 0 || n === 0)
  await new Promise((resolve) => setImmediate(resolve))
  return errors
}

test('functions of a silent host get few invocations, and other hosts all of theirs', async () => {
  const { sender, counts, answerAll } = createHalfHungSender()
  const functions = { a: 'http://hung.test/a', b: 'http://hung.test/b', c: 'http://healthy.test/c' }
  const calls = new FunctionCalls({ sender, clock: Date.now, functions: { functions } })
  const invoke = (name: string, type: 'Event' | 'RequestResponse' = 'Event') => {
    const arn = `arn:aws:lambda:us-east-1:000000000000:function:${name}`
    return new Promise<AttemptResult>((done) => calls.invoke({ arn, type, body: '{}' }, done))
  }
  const begun = Array.from({ length: LIMIT / 2 }, () => [invoke('a'), invoke('b')])
  vi.advanceTimersByTime(SILENT_MS)
  expect(await crowd(() => invoke('a'), 5)).toEqual(Array(5).fill('service_limit'))
  expect(counts.hung).toBe(LIMIT)
  expect(await invoke('c')).toMatchObject({ kind: 'response' })
  void invoke('b', 'RequestResponse')
  expect(counts.hung).toBe(LIMIT + 1)
  answerAll()
  await Promise.all(begun.flat())
  void invoke('b')
  expect(counts.hung).toBe(LIMIT + 2)
})

test('streams of a silent host get few requests, and other hosts all of theirs', async () => {
  const { sender, counts } = createHalfHungSender({
    body: Buffer.from(JSON.stringify({ FailedPutCount: 0, RequestResponses: [{ RecordId: '1' }] })),
  })
  const streams = { a: 'http://hung.test/a', b: 'http://hung.test/b', c: 'http://healthy.test/c' }
  const attempter = createStreamAttempter({ sender, clock: Date.now, itemIdOf: () => 'id' }, { streams })
  const put = (name: string) => {
    const target = { url: `arn:aws:firehose:us-east-1:000000000000:deliverystream/${name}` } as EndpointTarget
    const records = [{ bytes: Buffer.from('a\n'), delivery: Buffer.alloc(16) }]
    return new Promise<AttemptResult>((done) =>
      attempter?.batching.attempt({ target, records }, ([result]) => result && done(result)),
    )
  }
  for (let n = 0; n < LIMIT; n++) void put(n % 2 === 0 ? 'a' : 'b')
  vi.advanceTimersByTime(SILENT_MS)
  expect(await crowd(() => put('b'), 5)).toEqual(Array(5).fill('service_limit'))
  await waitFor(() => counts.hung === LIMIT)
  expect(await put('c')).toMatchObject({ kind: 'response' })
})

test('a silent push provider gets few notifications', async () => {
  const providers = await startProviders()
  const credential = { credential: firebaseCredential().PlatformCredential ?? '' }
  const device = createDevice(providers, { platform: 'GCM', credential, token: 'tok' })
  const waiting: (() => void)[] = []
  providers.hold = (give) => waiting.push(give)
  const begun = Array.from({ length: LIMIT }, () => device.push({ message: 'hello' }))
  await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(SILENT_MS)
  expect(await crowd(() => device.push({ message: 'more' }), 5)).toEqual(Array(5).fill('service_limit'))
  providers.hold = undefined
  for (const give of waiting) give()
  await Promise.all(begun)
  expect(await device.push({ message: 'again' })).not.toMatchObject({ error: 'service_limit' })
  await device.close()
  await providers.close()
})
