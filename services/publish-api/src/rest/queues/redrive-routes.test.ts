import { hash } from 'node:crypto'
import { createMessageId, type DeadLetter, type Message } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:'
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const LETTER_ID = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
const PLAIN_ID = '01a1fbe2-80fa-72ab-bc08-d682f311b599'
let api: TestApi
let subscription: { id: string; arn: string }

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  subscription = (
    await api.call('POST', '/v1/topics/orders/subscriptions', { body: { endpoint: 'https://example.com/' } })
  ).body
})

afterAll(() => api.stop())

/** Puts two dead letters of the subscription into the queue. */
async function letters(queue: string): Promise<void> {
  await api.call('PUT', `/v1/queues/${queue}`)
  const messageId = LETTER_ID
  const message: Message = { messageId, topicArn: TOPIC, publishedAt: 1, message: 'x' }
  const common = { attempts: 1, subscriptionArn: subscription.arn, topicArn: TOPIC, messageId, generation: 0 }
  const times = { publishedAt: Date.now(), deadLetteredAt: Date.now(), message, lastError: null }
  const one: DeadLetter = { ...common, ...times, reason: 'permanent', statusCode: 400 }
  const two: DeadLetter = { ...common, ...times, reason: 'retriesExhausted', statusCode: 503 }
  await api.deps.queues.send(
    QUEUE + queue,
    [one, two].map((deadLetter) => ({ body: 'x', deadLetter })),
  )
}

const sha256 = (text: string) => hash('sha256', text, 'hex')

const post = (path: string, body?: object) => api.call('POST', `/v1/redrives${path}`, body && { body })

test('a dry run counts and creates nothing', async () => {
  await letters('dry')
  const { status, body } = await post('', {
    source: 'dry',
    dryRun: true,
    filter: { subscription: subscription.id },
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    matched: 2,
    withoutOrigin: 0,
    bySubscription: { [subscription.arn]: 2 },
    byStatusCode: { '400': 1, '503': 1 },
  })
  expect((await api.call('GET', '/v1/redrives?source=dry')).body.redrives).toEqual([])
})

test('a redrive takes the dead letters of one reason', async () => {
  await letters('by-reason')
  const request = { source: 'by-reason', filter: { reason: 'permanent' } }
  expect((await post('', { ...request, dryRun: true })).body).toMatchObject({
    matched: 1,
    byStatusCode: { '400': 1 },
  })
  const { status, body } = await post('', request)
  expect([status, body.matched]).toEqual([202, 1])
  expect((await post('', { source: 'by-reason', filter: { reason: 'other' } })).status).toBe(400)
})

test('a queue that nothing was dead-lettered to needs a destination, and says so', async () => {
  await api.call('PUT', '/v1/queues/ordinary')
  await api.call('PUT', '/v1/queues/other')
  await api.deps.queues.send(`${QUEUE}ordinary`, [{ body: 'x' }])
  const refused = await post('', { source: 'ordinary' })
  expect([refused.status, refused.body.error]).toMatchObject([
    400,
    {
      code: 'validation_failed',
      details: [
        { path: 'destination', message: expect.stringMatching(/^must be named: .* dead-letter queue/) },
      ],
    },
  ])
  expect((await api.call('GET', '/v1/redrives?source=ordinary')).body.redrives).toEqual([])
  const counted = await post('', { source: 'ordinary', dryRun: true })
  expect(counted.body).toMatchObject({ matched: 1, withoutOrigin: 1 })
  expect((await post('', { source: 'ordinary', destination: 'other' })).status).toBe(202)
  expect((await post('', { source: 'nowhere' })).status).toBe(404)
})

test('a dead-letter queue may be redriven while it is empty', async () => {
  await api.call('PUT', '/v1/queues/letters')
  const redrivePolicy = { deadLetterTargetArn: `${QUEUE}letters`, maxReceiveCount: 1 }
  await api.call('PUT', '/v1/queues/source', { body: { redrivePolicy } })
  expect((await post('', { source: 'letters' })).status).toBe(202)
})

test('a task is created, read, listed, slowed, paused, resumed and canceled', async () => {
  await letters('task')
  const created = await post('', { source: 'task', maxMessagesPerSecond: 10, filter: { statusCode: 503 } })
  expect(created.status).toBe(202)
  expect(created.body).toMatchObject({
    status: 'running',
    source: `${QUEUE}task`,
    destination: null,
    moved: 0,
    maxMessagesPerSecond: 10,
    endedAt: null,
  })
  expect(created.body).toMatchObject({ canary: null, delivered: 0, backInDlq: 0 })
  const toQueue = await post('', { source: 'task', destination: 'dry', canary: 5 })
  expect([toQueue.status, toQueue.body.error.details]).toMatchObject([400, [{ path: 'canary' }]])
  const second = await post('', { source: `${QUEUE}task` })
  expect([second.status, second.body.error.code]).toEqual([409, 'redrive_active'])
  const path = `/${created.body.id}`
  const slowed = await api.call('PATCH', `/v1/redrives${path}`, { body: { maxMessagesPerSecond: null } })
  expect(slowed.body.maxMessagesPerSecond).toBeNull()
  expect((await post(`${path}/pause`)).body.status).toBe('paused')
  expect((await post(`${path}/resume`)).body.status).toBe('running')
  expect((await post(`${path}/cancel`)).body.status).toMatch(/^cancel(ing|ed)$/)
  expect((await api.call('GET', `/v1/redrives${path}`)).body.id).toBe(created.body.id)
  expect((await api.call('GET', '/v1/redrives?source=task')).body.redrives).toHaveLength(1)
})

test('a deleted subscription is named by its ARN, and a task that does not exist is 404', async () => {
  await letters('named')
  const gone = `${TOPIC}:000b1478-1b20-8eb5-9000-0abada1c0c5f`
  expect(
    (await post('', { source: 'named', dryRun: true, filter: { subscription: gone } })).body.matched,
  ).toBe(0)
  const byId = await post('', { source: 'named', dryRun: true, filter: { subscription: gone.split(':')[6] } })
  expect(byId.body.error.details).toMatchObject([{ path: 'filter.subscription' }])
  const none = '/01a1fbe2-80fa-72ab-bc08-d682f311b524'
  const answers = await Promise.all([
    api.call('GET', `/v1/redrives${none}`),
    api.call('PATCH', `/v1/redrives${none}`, { body: { maxMessagesPerSecond: 1 } }),
    post(`${none}/cancel`),
    post('', { source: 'no-such-queue' }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

const grouped = (queue: string, query: string) => api.call('GET', `/v1/queues/${queue}/dead-letters?${query}`)

test('dead letters are grouped by their values, with samples and a histogram', async () => {
  await letters('grouped')
  await letters('grouped')
  const { status, body } = await grouped('grouped', 'groupBy=reason,statusCode,topic')
  expect([status, body.matched, body.scanned, body.scannedTo, body.nextCursor]).toEqual([
    200,
    4,
    4,
    null,
    null,
  ])
  expect(body).toMatchObject({ byReason: { permanent: 2, retriesExhausted: 2 }, otherGroups: 0 })
  const one = { reason: 'permanent', statusCode: 400, topic: TOPIC, count: 2 }
  expect(body.groups).toContainEqual(expect.objectContaining(one))
  expect(body.groups.map(({ samples }: { samples: unknown[] }) => samples.length)).toEqual([2, 2])
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString()
  expect(body.byHour.at(-1).at <= hour).toBe(true)
  expect(body.byHour.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(4)
  const refused = await grouped('grouped', 'groupBy=reason,size')
  expect(refused.body.error.details).toMatchObject([{ path: 'groupBy' }])
})

test('groups name their subscriptions, and those without a name by their endpoint', async () => {
  await letters('by-subscription')
  const groups = async () => (await grouped('by-subscription', 'groupBy=subscription')).body.groups
  expect(await groups()).toMatchObject([{ count: 2, subscriptionName: 'https://example.com/' }])
  await api.call('PATCH', `/v1/subscriptions/${subscription.id}`, { body: { name: 'Billing' } })
  expect(await groups()).toMatchObject([{ count: 2, subscriptionName: 'Billing' }])
})

test('one filter means the same to groups, lists, redrives and purges', async () => {
  await letters('same')
  const common = { subscriptionArn: subscription.arn, topicArn: TOPIC, messageId: LETTER_ID, generation: 0 }
  const times = { publishedAt: Date.now(), deadLetteredAt: Date.now(), attempts: 1 }
  const message = { messageId: LETTER_ID, topicArn: TOPIC, publishedAt: 1, message: 'x' }
  const silent: DeadLetter = {
    ...common,
    ...times,
    message,
    reason: 'expired',
    statusCode: null,
    lastError: 'timeout',
  }
  await api.deps.queues.send(`${QUEUE}same`, [{ body: 'x', deadLetter: silent }, { body: 'no letter' }])
  const counted = async (filter: Record<string, string | number>) => {
    const query = new URLSearchParams(
      Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const listed = await api.call('GET', `/v1/queues/same/messages?${query}`)
    const moved = await post('', { source: 'same', filter, dryRun: true })
    const purged = await api.call('POST', '/v1/queues/same/purge', { body: { filter, dryRun: true } })
    return [
      (await grouped('same', String(query))).body.matched,
      listed.body.messages.length,
      moved.body.matched,
      purged.body.matched,
    ]
  }
  expect(await counted({ error: 'timeout' })).toEqual([1, 1, 1, 1])
  expect(await counted({ statusCode: 'none' })).toEqual([1, 1, 1, 1])
  expect(await counted({ error: 'none', reason: 'permanent' })).toEqual([1, 1, 1, 1])
  expect(await counted({ topic: 'orders' })).toEqual([3, 3, 3, 3])
  expect(await counted({ topic: 'order' })).toEqual([0, 0, 0, 0])
  const ids = await api.call('GET', `/v1/queues/same/messages?messageIds=${LETTER_ID},other`)
  expect(ids.body.messages).toHaveLength(3)
})

test('a purge of many dead letters is a task, and an empty filter is refused', async () => {
  await letters('many')
  const [one] = (await api.call('GET', '/v1/queues/many/messages?reason=permanent')).body.messages
  const { items } = await api.deps.queues.peek(`${QUEUE}many`, { limit: 1, reason: 'permanent' })
  expect(items[0]?.messageId).toBe(one.messageId)
  const deadLetter = items[0]?.deadLetter
  await api.deps.queues.send(
    `${QUEUE}many`,
    Array.from({ length: 1_001 }, () => ({ body: 'x', ...(deadLetter && { deadLetter }) })),
  )
  const purge = (body: object) => api.call('POST', '/v1/queues/many/purge', { body })
  const empty = await purge({ filter: {} })
  expect([empty.status, empty.body.error.details]).toMatchObject([400, [{ path: 'filter' }]])
  expect((await purge({ filters: { reason: 'permanent' } })).status).toBe(400)
  const begun = await purge({ filter: { reason: 'permanent' } })
  expect([begun.status, begun.body.action, begun.body.matched]).toEqual([202, 'purge', 1_002])
  const second = await purge({ filter: { reason: 'permanent' } })
  expect([second.status, second.body.error.code]).toEqual([409, 'redrive_active'])
  expect((await post(`/${begun.body.id}/cancel`)).body.status).toBe('canceled')
})

/** A dead letter of the subscription in its queue, and the path of its redrive. */
async function oneLetter(queue: string, attributes?: Message['attributes']) {
  await letters(queue)
  const { items } = await api.deps.queues.peek(QUEUE + queue, { limit: 1 })
  const letter = items[0]?.deadLetter
  if (!letter) throw new Error('no letter')
  const deadLetter = { ...letter, message: { ...letter.message, ...(attributes && { attributes }) } }
  const id = createMessageId(Date.now())
  await api.deps.queues.send(QUEUE + queue, [{ id, body: 'x', deadLetter }])
  return `/v1/queues/${queue}/messages/${id}/redrive`
}

test('a dead letter that is read by its id shows what was published', async () => {
  const path = await oneLetter('shown', { n: { type: 'Number', value: '7' } })
  const { body } = await api.call('GET', path.replace('/redrive', ''))
  expect(body.published).toEqual({ message: 'x', attributes: { n: { type: 'Number', value: '7' } } })
})

test('a dead letter is edited and sent under a new id, with both digests in the answer', async () => {
  const path = await oneLetter('edited')
  const { status, body } = await api.call('POST', path, { body: { message: 'mended', attributes: { n: 7 } } })
  expect(status).toBe(202)
  expect(body).toMatchObject({
    editedFrom: LETTER_ID,
    originalSha256: sha256('x'),
    editedSha256: sha256('mended'),
  })
  expect(body.messageId).not.toBe(LETTER_ID)
  const task = await api.deps.redrives.get(body.id)
  expect(task).toMatchObject({ matched: 1, filter: { messageIds: [path.split('/')[5]] } })
  expect(task?.edit?.message).toMatchObject({
    messageId: body.messageId,
    editedFrom: LETTER_ID,
    message: 'mended',
    attributes: {
      n: { type: 'Number', value: '7' },
      'fantail.editedFrom': { type: 'String', value: LETTER_ID },
    },
  })
  const shown = await api.call('GET', `/v1/messages/${body.messageId}`)
  expect([shown.status, shown.body.topicArn]).toEqual([200, TOPIC])
  expect((await api.call('POST', path, { body: {} })).body.error.code).toBe('redrive_active')
})

test('a task that cannot be read is refused with the reason, and can be canceled', async () => {
  const path = await oneLetter('damaged')
  const { id } = (await api.call('POST', path, { body: {} })).body
  const [key = ''] = await api.redis.keys(`*redrive:${id}`)
  await api.redis.hset(key, 'filter', '{"messageIds"')
  const call = async (method: string, action = '') => {
    const { status, body } = await api.call(method, `/v1/redrives/${id}${action}`)
    return [status, body.error?.message ?? body.status]
  }
  expect(await call('GET')).toEqual([500, expect.stringContaining('cannot be read')])
  expect(await call('POST', '/resume')).toEqual([409, expect.stringContaining('only be canceled')])
  expect(await call('POST', '/cancel')).toEqual([200, 'canceled'])
})

test('a task whose edit was changed or lost cannot be read', async () => {
  const path = await oneLetter('edit-damaged')
  const { id } = (await api.call('POST', path, { body: { message: 'mended' } })).body
  const [key = ''] = await api.redis.keys(`*redrive:${id}`)
  const edit = (await api.redis.hget(key, 'edit')) ?? ''
  const status = async () => (await api.call('GET', `/v1/redrives/${id}`)).status
  expect([edit.includes('mended'), await status()]).toEqual([true, 200])
  for (const changed of [edit.replace('mended', 'nended'), edit.slice(0, -1), '']) {
    await api.redis.hset(key, 'edit', changed)
    expect([changed, await status()]).toEqual([changed, 500])
  }
  await api.redis.hdel(key, 'edit')
  expect(await status()).toBe(500)
  expect((await api.call('POST', `/v1/redrives/${id}/cancel`)).body.status).toBe('canceled')
})

test('an edit that has begun is answered, even if the outcome log cannot note it', async () => {
  const path = await oneLetter('unnoted')
  const append = vi.spyOn(api.deps.outcomes, 'append').mockRejectedValue(new Error('Connection is closed.'))
  const { status, body } = await api.call('POST', path, { body: { message: 'mended' } })
  append.mockRestore()
  expect([status, body.editedFrom]).toEqual([202, LETTER_ID])
  expect(await api.deps.redrives.get(body.id)).toMatchObject({ status: 'running', matched: 1 })
  expect(api.events).toContainEqual({
    event: 'redrive.note_failed',
    fields: { err: expect.any(Error), messageId: body.messageId },
  })
})

test('an edit that its target would not take is refused, and changes nothing', async () => {
  const filterPolicy = { country: ['DE'] }
  const filtered = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: 'https://example.com/filtered', filterPolicy },
  })
  const earlier = subscription
  subscription = filtered.body
  const path = await oneLetter('refusing', { country: { type: 'String', value: 'DE' } })
  subscription = earlier
  const send = async (body: object, to = path) => {
    const answer = await api.call('POST', to, { body })
    return [answer.status, answer.body.error?.details?.[0]?.path ?? answer.body.error?.code]
  }
  expect(await send({ attributes: { country: 'FR' } })).toEqual([400, 'attributes'])
  expect(await send({ message: 'y'.repeat(262_140) })).toEqual([413, 'message'])
  expect(await send({ message: '' })).toEqual([400, 'message'])
  expect(await send({ destination: 'nowhere' })).toEqual([400, 'destination'])
  expect(await send({}, path.replace(/[0-9a-f-]{36}/, LETTER_ID))).toEqual([404, 'not_found'])
  await api.deps.queues.send(`${QUEUE}refusing`, [{ id: PLAIN_ID, body: 'plain' }])
  expect(await send({}, `/v1/queues/refusing/messages/${PLAIN_ID}/redrive`)).toEqual([400, 'destination'])
  const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, n]))
  await api.call('PUT', '/v1/queues/aside')
  expect(await send({ attributes, destination: 'aside' })).toEqual([400, 'attributes'])
  expect(await send({ message: '\x01', destination: 'aside' })).toEqual([400, 'message'])
  expect(await send({ attributes: { n: '\x02' }, destination: 'aside' })).toEqual([400, 'attributes.n'])
  const all = (await api.deps.queues.peek(`${QUEUE}refusing`, { limit: 100 })).items
  expect([
    all.length,
    (await api.deps.redrives.list({ limit: 100, source: `${QUEUE}refusing` })).items,
  ]).toEqual([4, []])
  expect(await send({ message: 'y' })).toEqual([202, undefined])
})

test('a received message, and one behind another of its FIFO group, are not sent', async () => {
  await api.call('PUT', '/v1/queues/order.fifo')
  await api.call('PUT', '/v1/queues/other.fifo')
  const [first, second] = await api.deps.queues.send(
    `${QUEUE}order.fifo`,
    ['one', 'two'].map((body) => ({ body, groupId: 'g', deduplicationId: body })),
  )
  const send = (id = '') =>
    api.call('POST', `/v1/queues/order.fifo/messages/${id}/redrive`, { body: { destination: 'other.fifo' } })
  const behind = await send(second?.messageId)
  expect([behind.status, behind.body.error.message]).toEqual([409, expect.stringMatching(/earlier message/)])
  await api.deps.queues.receive(`${QUEUE}order.fifo`, { maxMessages: 1 })
  const busy = await send(first?.messageId)
  expect([busy.status, busy.body.error.message]).toEqual([409, expect.stringMatching(/a consumer/)])
})
