/** Requests and replies over queues: outcomes, deadlines, repetitions, and what remains after a requester ends. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  type Consumer,
  createRequester,
  type RequestHandler,
  RequestRefused,
  respond,
} from '@fantail/consumer'
import { waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { ROOT, textOf } from '../repo/repository.ts'

const stack = useStack({ workers: 0 })
const at = () => ({ url: stack().api.url })

let made = 0
const running: Consumer[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((consumer) => consumer.stop({ graceMs: 0 })))
})

async function aQueue(): Promise<string> {
  const name = `asked-${made++}`
  await stack().client.put(`/v1/queues/${name}`, {})
  return name
}

function responding(queue: string, handler: RequestHandler): Consumer {
  const consumer = respond(queue, handler, { fantail: at(), backoff: () => 0 })
  consumer.on('failed', () => undefined)
  running.push(consumer)
  return consumer
}

const queues = async (prefix: string) =>
  (await stack().client.get<{ queues: { name: string }[] }>(`/v1/queues?prefix=${prefix}`)).queues

test('each request gets its own reply, over one queue, which ends with the requester', async () => {
  const queue = await aQueue()
  responding(queue, async ({ body }) => {
    const { number } = JSON.parse(body)
    // The first ones take longest.
    await new Promise((resolve) => setTimeout(resolve, (5 - number) * 20))
    return { squared: number * number }
  })
  const requester = await createRequester({ ...at(), name: 'mine' })
  expect(await queues('mine-')).toMatchObject([{ name: requester.replyQueue, leaseSeconds: 3_600 }])
  const replies = await Promise.all([1, 2, 3, 4, 5].map((number) => requester.request(queue, { number })))
  expect(replies.map((reply) => JSON.parse(reply).squared)).toEqual([1, 4, 9, 16, 25])
  await requester.close()
  expect(await queues('mine-')).toEqual([])
  await expect(requester.request(queue, 'x')).rejects.toMatchObject({ because: 'closed' })
})

test('a refusal comes back with its text, and other errors are tried again', async () => {
  const queue = await aQueue()
  let tries = 0
  responding(queue, ({ body }, { attempt }) => {
    tries++
    if (body === 'unknown') throw new RequestRefused('there is no such thing')
    if (attempt < 3) throw new Error('not yet')
    return 'at last'
  })
  await using requester = await createRequester(at())
  await expect(requester.request(queue, 'unknown')).rejects.toMatchObject({
    name: 'RequestError',
    because: 'refused',
    message: 'there is no such thing',
  })
  expect(await requester.request(queue, 'flaky')).toBe('at last')
  expect(tries).toBe(4)
})

test('a deadline ends the wait; a request past it is dropped without its handler', async () => {
  const queue = await aQueue()
  await using requester = await createRequester(at())
  const late = requester.request(queue, 'late', { timeoutMs: 50 })
  await expect(late).rejects.toMatchObject({ because: 'timeout' })
  const seen: string[] = []
  responding(queue, ({ body }, { deadline, signal }) => {
    seen.push(body)
    expect([deadline > Date.now(), signal.aborted]).toEqual([true, false])
    return body
  })
  expect(await requester.request(queue, 'in time')).toBe('in time')
  expect([seen, requester.pending]).toEqual([['in time'], 0])
})

test("the handler's signal aborts at the deadline, and the request is not tried again", async () => {
  const queue = await aQueue()
  let begun = 0
  const consumer = responding(queue, (_message, { signal }) => {
    begun++
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  await using requester = await createRequester(at())
  const slow = requester.request(queue, 'slow', { timeoutMs: 300 })
  await expect(slow).rejects.toMatchObject({ because: 'timeout' })
  await waitFor(() => consumer.stats().succeeded === 1)
  expect([begun, consumer.stats().failed]).toEqual([1, 0])
})

test('the caller, a bound and a failed send end a request', async () => {
  const queue = await aQueue()
  await using requester = await createRequester({ ...at(), pendingMax: 1 })
  const abort = new AbortController()
  const waiting = requester.request(queue, 'waits', { signal: abort.signal })
  await expect(requester.request(queue, 'too many')).rejects.toMatchObject({ because: 'full' })
  abort.abort(new Error('enough'))
  await expect(waiting).rejects.toMatchObject({ because: 'aborted', cause: { message: 'enough' } })
  await expect(requester.request('nowhere', 'x')).rejects.toMatchObject({ status: 404, code: 'not_found' })
  await expect(requester.request(queue, 'x', { timeoutMs: 0 })).rejects.toThrow(TypeError)
  expect(requester.pending).toBe(0)
})

test('replies to a requester that is gone, and replies that come twice, harm nobody', async () => {
  const queue = await aQueue()
  const gone = await createRequester(at())
  gone.request(queue, 'for nobody').catch(() => undefined)
  await waitFor(
    async () =>
      (await stack().client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)).counts.visible === 1,
  )
  await gone.close()
  const consumer = responding(queue, ({ body }) => body)
  await waitFor(() => consumer.stats().succeeded === 1)
  await using requester = await createRequester(at())
  const replies = `/v1/queues/${requester.replyQueue}/messages`
  const attributes = { 'fantail.correlationId': 'unknown', 'fantail.outcome': 'ok' }
  await stack().client.post(replies, { body: 'a second reply', attributes })
  expect(await requester.request(queue, 'goes on')).toBe('goes on')
})

test('a reply queue that is gone is made again', async () => {
  const queue = await aQueue()
  responding(queue, ({ body }) => body)
  const problems: unknown[] = []
  await using requester = await createRequester({ ...at(), onProblem: (error) => problems.push(error) })
  await stack().client.delete(`/v1/queues/${requester.replyQueue}`)
  await waitFor(() => problems.length > 0)
  await waitFor(async () => (await queues(requester.replyQueue)).length === 1)
  expect(await requester.request(queue, 'again')).toBe('again')
})

test('the programs of the guide run as written', async () => {
  await stack().client.put('/v1/queues/prices', {})
  const guide = textOf('docs/guides/request-response.md')
  const [responder, requester] = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
    start(code),
  )
  try {
    expect(await text(requester?.stdout as Readable)).toBe('price 3\nrefused there is no coal\n')
  } finally {
    responder?.kill('SIGTERM')
  }
})

/** Runs a program, given as text, in a folder where it finds the packages of the tests. */
function start(code: string) {
  const child = spawn(process.execPath, ['--conditions=@fantail/source', '--input-type=module', '-'], {
    cwd: join(ROOT, 'tests'),
    env: { ...process.env, FANTAIL_URL: stack().api.url },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(code)
  return child
}
