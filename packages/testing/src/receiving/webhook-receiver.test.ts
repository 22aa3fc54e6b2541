/** The answers of scripts, and the recorded requests, without a stack. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fantailMatchers } from '../matching/fantail-matchers.ts'
import type { Reply } from './answer-script.ts'
import { type Receiver, startReceiver } from './webhook-receiver.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver({ timeoutMs: 30_000 })
})
afterEach(() => receiver.close())

/** The status, or `broken` if the connection ended without an answer. */
function post(path: string, headers: Record<string, string> = {}, body = ''): Promise<number | 'broken'> {
  return fetch(`${receiver.url}${path}`, { method: 'POST', headers, body }).then(
    ({ status }) => status,
    () => 'broken' as const,
  )
}

async function statuses(path: string, count: number): Promise<(number | 'broken')[]> {
  const found: Awaited<ReturnType<typeof post>>[] = []
  for (let n = 0; n < count; n++) found.push(await post(path))
  return found
}

test('every path answers 200 without a script', async () => {
  receiver.on('/seen')
  expect([await post('/seen'), await post('/other?a=1')]).toEqual([200, 200])
  expect(receiver.requests.map(({ path, query }) => [path, query.get('a')])).toEqual([
    ['/seen', null],
    ['/other', '1'],
  ])
})

test('steps follow each other, and the last one lasts', async () => {
  receiver.on('/a').reply(500).times(2).then(503).then(201)
  expect(await statuses('/a', 6)).toEqual([500, 500, 503, 201, 201, 201])
  expect(receiver.on('/a').requests.map(({ answered }) => answered)).toEqual([500, 500, 503, 201, 201, 201])
})

test('a last step with a number of times gives way to 200', async () => {
  receiver.on('/a').reset().times(1)
  expect(await statuses('/a', 2)).toEqual(['broken', 200])
})

test('a new script of a path replaces the one before', async () => {
  receiver.on('/a').reply(500)
  receiver.on('/a').reply(404).then(500)
  expect(await statuses('/a', 2)).toEqual([404, 500])
})

test('each message goes through a script by itself, if it should', async () => {
  receiver.on('/a').perMessage().reply(500).then(200)
  const of = (id: string) => post('/a', { 'webhook-id': id })
  expect([await of('x'), await of('y'), await of('x'), await of('y')]).toEqual([500, 500, 200, 200])
})

test('answers have headers and bodies, and wait', async () => {
  receiver
    .on('/a')
    .reply({ status: 429, headers: { 'Retry-After': '7' }, body: { slow: 'down' } })
    .delay(100)
  const startedAt = performance.now()
  const response = await fetch(`${receiver.url}/a`)
  expect(performance.now() - startedAt).toBeGreaterThan(95)
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  expect(await response.json()).toEqual({ slow: 'down' })
})

test('a request that hangs is recorded, and ends with the receiver', async () => {
  receiver.on('/a').hang()
  const hung = post('/a')
  await receiver.on('/a').waitForRequests(1)
  expect(receiver.requests[0]?.answered).toBeUndefined()
  await receiver.close()
  expect(await hung).toBe('broken')
})

test('the published message is read from the envelope, and from a raw delivery', async () => {
  const envelope = {
    Type: 'Notification',
    MessageId: 'm',
    Message: '{"order":7}',
    MessageAttributes: { event: { Type: 'String', Value: 'paid' } },
  }
  const arn = 'arn:aws:sns:us-east-1:000000000000:orders:the-subscription'
  const headers = { 'x-amz-sns-message-id': 'm', 'x-amz-sns-subscription-arn': arn }
  await post('/a', headers, JSON.stringify(envelope))
  await post('/a', { ...headers, 'x-amz-sns-rawdelivery': 'true' }, JSON.stringify(envelope))
  await post('/a', {}, 'plain')
  const [first, raw, plain] = receiver.requests
  expect(first).toMatchObject({ messageId: 'm', subscriptionId: 'the-subscription', message: { order: 7 } })
  expect(first?.attributes).toEqual({ event: 'paid' })
  expect(raw?.message).toEqual(envelope)
  expect([plain?.message, plain?.attributes, plain?.messageId]).toEqual(['plain', {}, undefined])
})

test('wrong scripts are refused in words, and so is an await', async () => {
  const path = receiver.on('/a')
  expect(() => path.reply(42)).toThrow('a reply is a status from 200 to 599')
  expect(() => path.reply('never' as Reply)).toThrow(/'hang' or 'reset'/)
  expect(() => path.reply(200).times(0)).toThrow('times must be 1 or more, not 0')
  expect(() => path.reply(200).delay(-1)).toThrow('delay must be milliseconds, not -1')
  expect(() => receiver.on('a')).toThrow('a path begins with /')
  await expect(Promise.resolve(path.reply(200) as unknown)).rejects.toThrow(
    'a script is not a promise: remove the await before it',
  )
})

test('a wait that fails says how many requests came', async () => {
  await post('/a')
  const wait = receiver.on('/a').waitForRequests(2, { timeoutMs: 0 })
  await expect(wait).rejects.toThrow(/timed out after 0 ms: waited for 2 requests to http:\S+\/a, 1 came/)
})

test('matchers compare what was received, and show it', async () => {
  await post('/a', { 'X-Own': 'yes' }, '{"order":7,"at":"now"}')
  const path = receiver.on('/a')
  const { toHaveReceived, toHaveReceivedNothing, toBeSignedBy } = fantailMatchers
  const holds = (expected: object) => toHaveReceived(path, expected).pass
  expect(holds({ message: { order: 7 }, headers: { 'x-OWN': /^y/ }, method: 'POST', times: 1 })).toBe(true)
  expect(holds({ message: expect.objectContaining({ at: expect.any(String) }) })).toBe(true)
  expect([{ times: 2 }, { message: { order: 8 } }, { headers: { 'x-own': 'no' } }].map(holds)).toEqual([
    false,
    false,
    false,
  ])
  expect(toHaveReceived(path, { times: 2 }).message()).toMatch(
    /\/a should have received 2 requests like \{\}\n1 of 1 requests are like that:\n.* POST \/a .*order: 7/,
  )
  expect([toHaveReceivedNothing(path).pass, toHaveReceivedNothing(receiver.on('/b')).pass]).toEqual([
    false,
    true,
  ])
  const unsigned = await toBeSignedBy(path, 'whsec_AAAA')
  expect([unsigned.pass, unsigned.message()]).toEqual([false, expect.stringContaining('missing_header')])
  expect((await toBeSignedBy(receiver.on('/b'), 'whsec_AAAA')).pass).toBe(false)
  expect(() => toHaveReceived('a')).toThrow("expected a receiver or one of its paths, not 'a'")
})
