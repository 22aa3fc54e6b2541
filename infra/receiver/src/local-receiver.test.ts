import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOwnHosts } from '@fantail/config'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createReceiver } from './local-receiver.ts'

let server: Server
let url: string
let printed: string[]

beforeEach(async () => {
  printed = []
  server = createReceiver({
    print: (line) => void printed.push(line),
    ownHosts: createOwnHosts({ mode: 'local' }),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const deliver = (path: string, messageId: string, signal?: AbortSignal) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-amz-sns-message-id': messageId },
    body: 'hello',
    signal: signal ?? null,
  })

describe('the receiver', () => {
  it.each([
    ['127.0.0.1', 200],
    ['evil.example', 403],
  ])('under the host %s shows what arrived with %i, and takes deliveries', async (host, status) => {
    const under = (path: string) =>
      new Promise((resolve) => {
        request(`${url}${path}`, { headers: { host } }, (response) => {
          resolve(response.resume().statusCode)
        }).end()
      })
    expect([await under('/'), await under('/ok')]).toEqual([status, 200])
  })

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost:4200' }, 200],
    [{}, 200],
  ])('answers a POST with %j by %i', async (given, status) => {
    const posted = await new Promise((resolve) => {
      const headers = given as Record<string, string>
      request(`${url}/ok`, { method: 'POST', headers }, (response) =>
        resolve(response.resume().statusCode),
      ).end()
    })
    expect([posted, printed.length]).toEqual([status, status === 200 ? 1 : 0])
  })

  it('prints one safe line per request, whatever its sender wrote', async () => {
    const MessageId = 'x attempt=9 → 200\u001b[2J\u202e'
    const link = `https://a.example/?x='$(touch y)`
    await fetch(`${url}/ok`, {
      method: 'POST',
      headers: { 'x-amz-sns-message-type': 'SubscriptionConfirmation' },
      body: `{"MessageId":"${MessageId}\nreceived POST /ok","SubscribeURL":"${link}"}`,
    })
    const posting = (body: string) =>
      fetch(`${url}/ok`, { method: 'POST', headers: { 'x-amz-sns-message-type': 'XConfirmation' }, body })
    await posting('{"SubscribeURL":"-K/etc/passwd"}')
    expect(printed).toEqual([
      'received POST /ok messageId="x attempt=9 → 200\\u001b[2J\\u202e\\nreceived POST /ok" attempt=1 → 200',
      String.raw`  asks to be confirmed: curl -sS 'https://a.example/?x='\''$(touch y)'`,
      'received POST /ok messageId=none attempt=1 → 200',
    ])
  })

  it.each([
    ['/ok', 200],
    ['/status/503', 503],
    ['/status/204', 204],
    ['/slow/1', 200],
    ['/status/99', 404],
    ['/ok/more', 404],
    ['/elsewhere', 404],
  ])('answers %s with %i', async (path, status) => {
    expect((await deliver(path, 'm1')).status).toBe(status)
  })

  it.each([
    ['hello', 'Event', 202],
    ['hello', 'RequestResponse', 200],
    ['status-404', 'Event', 404],
    ['flaky-1', 'Event', 503],
  ])('is the function %s: an invocation of type %s is answered %i', async (name, type, status) => {
    const response = await fetch(`${url}/2015-03-31/functions/${name}/invocations`, {
      method: 'POST',
      headers: { 'x-amz-invocation-type': type },
      body: '{"Records":[{"Sns":{"MessageId":"m1"}}]}',
    })
    expect([response.status, response.headers.has('x-amzn-requestid')]).toEqual([status, true])
    expect(printed.join()).toContain('messageId=m1')
  })

  it('takes the records of a stream, and shows their texts', async () => {
    const data = (text: string) => ({ Data: Buffer.from(text).toString('base64') })
    const response = await fetch(`${url}/firehose`, {
      method: 'POST',
      headers: { 'x-amz-target': 'Firehose_20150804.PutRecordBatch' },
      body: JSON.stringify({ Records: [data('{"MessageId":"m1"}\n'), data('two\n')] }),
    })
    const answer = (await response.json()) as { FailedPutCount: number; RequestResponses: object[] }
    expect([answer.FailedPutCount, answer.RequestResponses.length]).toEqual([0, 2])
    expect(printed.join()).toContain('messageId=m1')
    const { received } = (await (await fetch(url)).json()) as { received: { body: string }[] }
    expect(received[0]?.body).toBe('{"MessageId":"m1"}\ntwo\n')
  })

  it('fails a flaky path so many times per message, and says so', async () => {
    const statuses: number[] = []
    for (const id of ['m1', 'm1', 'm2', 'm1']) statuses.push((await deliver('/flaky/2', id)).status)

    expect(statuses).toEqual([503, 503, 503, 200])
    expect(printed[1]).toBe('received POST /flaky/2 messageId=m1 attempt=2 → 503')
  })

  it('tells paths apart by their queries, and counts attempts for each', async () => {
    for (const path of ['/flaky/1?a', '/flaky/1?b', '/flaky/1?a']) await deliver(path, 'm1')

    expect(printed).toEqual([
      'received POST /flaky/1?a messageId=m1 attempt=1 → 503',
      'received POST /flaky/1?b messageId=m1 attempt=1 → 503',
      'received POST /flaky/1?a messageId=m1 attempt=2 → 200',
    ])
  })

  it('takes the message id from an envelope where no header has it', async () => {
    await fetch(`${url}/ok`, { method: 'POST', body: JSON.stringify({ MessageId: 'm7' }) })

    expect(printed).toEqual(['received POST /ok messageId=m7 attempt=1 → 200'])
  })

  it('prints the link that confirms a subscription', async () => {
    const headers = { 'x-amz-sns-message-type': 'SubscriptionConfirmation', 'x-amz-sns-message-id': 'm8' }
    const body = '{\n  "SubscribeURL" : "http://127.0.0.1:1/?Action=ConfirmSubscription&Token=ab"\n}'
    await fetch(`${url}/ok`, { method: 'POST', headers, body })

    expect(printed).toEqual([
      'received POST /ok messageId=m8 attempt=1 → 200',
      "  asks to be confirmed: curl -sS 'http://127.0.0.1:1/?Action=ConfirmSubscription&Token=ab'",
    ])
    const { received } = (await (await fetch(url)).json()) as { received: { headers: object }[] }
    expect(received[0]?.headers).toMatchObject(headers)
  })

  it('never answers a hanging path', async () => {
    const hanging = deliver('/hang', 'm1', AbortSignal.timeout(100))

    await expect(hanging).rejects.toThrow(/timeout/i)
    expect(printed).toEqual(['received POST /hang messageId=m1 attempt=1 → hangs'])
  })

  it('lists the last hundred, newest first', async () => {
    for (let i = 0; i < 101; i++) await deliver('/ok', `m${i}`)

    const { received } = (await (await fetch(url)).json()) as { received: { messageId: string }[] }
    expect(received).toHaveLength(100)
    expect(received[0]).toMatchObject({
      messageId: 'm100',
      path: '/ok',
      status: 200,
      attempt: 1,
      body: 'hello',
    })
  })
})
