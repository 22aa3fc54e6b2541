/** Live events over real processes: what a listener gets, and what it costs while nobody listens. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { changesEchoes, connect as connectRedis, connectSubscriber, whenReady } from '@fantail/store'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { type EventStream, listenTo } from '../harness/services/event-stream.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`
const open: EventStream[] = []

afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})

async function listen(query: string, lastId?: string): Promise<EventStream> {
  const stream = await listenTo(`${stack().api.url}/v1/events?${query}`, { lastId })
  open.push(stream)
  return stream
}

async function publishAll(topic: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await publish(stack(), topic, `message ${n}`))
  return ids
}

/** Resolves when the outcome log has the end of each. */
async function whenDelivered(ids: string[]): Promise<void> {
  const delivered = async (id: string) => {
    const { body } = await stack().client.call<{ counts?: { delivered: number } }>(
      'GET',
      `/v1/messages/${id}`,
    )
    return body.counts?.delivered === 1
  }
  await waitFor(async () => (await Promise.all(ids.map(delivered))).every(Boolean), { what: 'all ends' })
}

const idsOf = (stream: EventStream, name: string) => stream.of(name).map(({ data }) => data.messageId)

test('a listener sees what was published, each attempt with its cause, and each end', async () => {
  receiver().respond('/seen-dead', { status: 503 })
  const good = await subscribe(stack(), 'seen', { endpoint: hook('/seen-good') })
  const dead = await subscribe(stack(), 'seen', {
    endpoint: hook('/seen-dead'),
    deliveryPolicy: retries(1, { minDelayTarget: 1, maxDelayTarget: 1 }),
  })
  const stream = await listen('topic=seen')
  const messageId = await publish(stack(), 'seen', 'secret words')
  await stream.until('deadLettered', 1)
  const [published] = await stream.until('published', 1)
  expect(published?.data).toMatchObject({ type: 'published', messageId })
  const attempts = (await stream.until('attempt', 3)).map(({ data }) => data)
  expect(attempts.find(({ subscriptionId }) => subscriptionId === good.id)).toMatchObject({
    ...{ messageId, endpoint: hook('/seen-good'), attempts: 1, path: 'first', statusCode: 200, error: null },
    ...{ decision: 'delivered', nextAttemptAt: null, cause: null },
  })
  expect(attempts.filter(({ subscriptionId }) => subscriptionId === dead.id)).toMatchObject([
    { attempts: 1, statusCode: 503, decision: 'retry', nextAttemptAt: expect.any(String) },
    { attempts: 2, path: 'lane', statusCode: 503, decision: 'dead', cause: 'retriesExhausted' },
  ])
  const [delivered] = await stream.until('delivered', 1)
  expect(delivered?.data).toMatchObject({ messageId, subscriptionId: good.id, statusCode: 200, attempts: 1 })
  expect(stream.of('parked')[0]?.data).toMatchObject({
    subscriptionId: dead.id,
    statusCode: 503,
    attempts: 1,
  })
  expect(stream.of('deadLettered')[0]?.data).toMatchObject({
    ...{ messageId, subscriptionId: dead.id, endpoint: hook('/seen-dead'), attempts: 2 },
    ...{ statusCode: 503, cause: 'retriesExhausted', redrives: 0 },
  })
  expect(JSON.stringify(stream.seen)).not.toContain('secret words')
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(stream.headers.get('x-accel-buffering')).toBe('no')
  expect(stream.headers.get('cache-control')).toContain('no-store')
})

test('every end comes once over reconnects, in the middle of a page too, and attempts begin with a gap', async () => {
  await subscribe(stack(), 'resumed', { endpoint: hook('/resumed') })
  const types = 'topic=resumed&max=1000'
  const first = await listen(types)
  const before = await publishAll('resumed', 20)
  await first.until('delivered', 20)
  first.close()
  // Continues after the seventh end of a delivery.
  const seventh = first.of('delivered')[6]
  const missed = await publishAll('resumed', 30)
  await whenDelivered(missed)
  const second = await listen(types, seventh?.id)
  await second.until('delivered', 43)
  const after = await publishAll('resumed', 10)
  await second.until('delivered', 53)
  const seen = [...idsOf(first, 'delivered').slice(0, 7), ...idsOf(second, 'delivered')]
  expect(seen.toSorted()).toEqual([...before, ...missed, ...after].toSorted())
  expect(second.of('gap')[0]?.data).toMatchObject({
    dropped: null,
    why: 'reconnect',
    from: expect.any(String),
  })
  expect(idsOf(second, 'attempt').filter((id) => missed.includes(id))).toEqual([])
  await second.until('attempt', 10)
})

test('ends of the last minutes come to a listener that names a time', async () => {
  const since = new Date(Date.now() - 60_000).toISOString()
  await subscribe(stack(), 'earlier', { endpoint: hook('/earlier') })
  const ids = await publishAll('earlier', 3)
  await whenDelivered(ids)
  const stream = await listen(`topic=earlier&type=delivered&since=${since}`)
  await stream.until('delivered', 3)
  expect(idsOf(stream, 'delivered').toSorted()).toEqual(ids.toSorted())
  expect(stream.of('gap')).toEqual([])
})

test('filters choose by subscription, type and status', async () => {
  receiver().respond('/chosen-busy', { status: 503 })
  const deliveryPolicy = retries(1, { minDelayTarget: 600, maxDelayTarget: 600 })
  const good = await subscribe(stack(), 'chosen', { endpoint: hook('/chosen-good') })
  const busy = await subscribe(stack(), 'chosen', { endpoint: hook('/chosen-busy'), deliveryPolicy })
  const failing = await listen('topic=chosen&statusCode=5xx')
  const one = await listen(`subscription=${good.id}&type=attempt,delivered`)
  await publish(stack(), 'chosen', 'x')
  await failing.until('attempt', 1)
  await failing.until('parked', 1)
  await one.until('attempt', 1)
  await one.until('delivered', 1)
  const subjects = (stream: EventStream) =>
    new Set(
      stream.seen.flatMap(({ data }) => (data.subscriptionId === undefined ? [] : [data.subscriptionId])),
    )
  expect(subjects(failing)).toEqual(new Set([busy.id]))
  expect(failing.of('published')).toEqual([])
  expect(subjects(one)).toEqual(new Set([good.id]))
  expect(new Set(one.seen.map(({ name }) => name))).toEqual(new Set(['state', 'attempt', 'delivered']))
})

test('past `max` events a second the rest is counted, and nothing is left uncounted', async () => {
  await subscribe(stack(), 'many', { endpoint: hook('/many') })
  const ends = await listen('topic=many&type=delivered&max=5')
  const attempts = await listen('topic=many&type=attempt&max=5')
  await publishAll('many', 60)
  const counted = (stream: EventStream, name: string) =>
    stream.of('gap').reduce((sum, { data }) => sum + data.dropped, 0) + stream.of(name).length
  await waitFor(() => counted(ends, 'delivered') >= 60 && counted(attempts, 'attempt') >= 60, {
    what: 'every event to be shown or counted',
  })
  expect([counted(ends, 'delivered'), counted(attempts, 'attempt')]).toEqual([60, 60])
  for (const { data } of [...ends.of('gap'), ...attempts.of('gap')]) expect(data.why).toBe('rate')
  expect(ends.of('gap').length).toBeGreaterThan(0)
})

test('without a listener a delivery costs no publish, and the log is not read', async () => {
  await subscribe(stack(), 'unseen', { endpoint: hook('/unseen') })
  const stream = await listen('topic=unseen')
  await publishAll('unseen', 3)
  await stream.until('attempt', 3)
  stream.close()
  // A connection to one server. In a cluster, commands without a key could go to any server.
  const connection = connectRedis({ url: stack().redis.url, name: 'test' })
  await whenReady(connection)
  const isQuiet = async () => {
    await connection.call('CONFIG', 'RESETSTAT')
    await new Promise((resolve) => setTimeout(resolve, 600))
    return !/cmdstat_(xrange|publish)/.test(await connection.info('commandstats'))
  }
  await waitFor(isQuiet, { what: 'the API to stop listening' })
  const published: string[] = []
  const subscriber = connectSubscriber({ url: stack().redis.url, name: 'test' })
  subscriber.on('pmessage', (_, channel: string) => published.push(channel))
  await whenReady(subscriber)
  await subscriber.psubscribe('*')
  await connection.call('CONFIG', 'RESETSTAT')
  const ids = await publishAll('unseen', 20)
  await waitFor(() => receiver().requests.filter(({ path }) => path === '/unseen').length >= 23)
  const stats = await connection.info('commandstats')
  expect(ids).toHaveLength(20)
  expect(stats).not.toMatch(/cmdstat_xrange/)
  // All messages from before the answer have come when it comes.
  await subscriber.ping()
  expect(published.filter((channel) => !channel.startsWith(changesEchoes('')))).toEqual([])
  connection.disconnect()
  subscriber.disconnect()
})

test('a killed API leaves no end out', async () => {
  await subscribe(stack(), 'killed', { endpoint: hook('/killed') })
  const first = await listen('topic=killed')
  const before = await publishAll('killed', 5)
  await first.until('delivered', 5)
  await stack().api.kill()
  await waitFor(() => first.isEnded, { what: 'the stream to end' })
  await stack().api.start()
  const after = await publishAll('killed', 5)
  const second = await listen('topic=killed', first.lastId)
  await second.until('delivered', 5)
  const seen = [...idsOf(first, 'delivered'), ...idsOf(second, 'delivered')]
  expect(seen.toSorted()).toEqual([...before, ...after].toSorted())
  const again = await publishAll('killed', 2)
  const attempted = () => idsOf(second, 'attempt')
  await waitFor(() => again.every((id) => attempted().includes(id)), { what: 'attempts after the restart' })
})

test('an API that stops ends its streams with a reason, and waits for none of them', async () => {
  const stream = await listen('')
  // Browsers open such connections ahead.
  const unused = connect(Number(new URL(stack().api.url).port), '127.0.0.1')
  await once(unused, 'connect')
  const took = startFairTimer(stack().api.pid)
  expect(await stack().api.stop()).toBe(0)
  expect(took()).toBeLessThan(8_000)
  await waitFor(() => stream.isEnded, { what: 'the stream to end' })
  expect(stream.of('end').map(({ data }) => data)).toEqual([{ why: 'stopping' }])
  await stack().api.start()
})
