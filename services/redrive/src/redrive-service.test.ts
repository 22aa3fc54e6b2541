import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ARN_DEFAULTS, platformApplicationArn, queueArn, topicArn } from '@fantail/contracts'
import { createLogger, type Logger } from '@fantail/runtime'
import {
  ApiKeys,
  liveChannel,
  PlatformApplications,
  PushConsumerRecords,
  Quarantine,
  shardBase,
  shardOf,
  travelAnswers,
  travelQuestions,
  WAKE_LISTENERS,
  WAKE_REDRIVES,
  whenReady,
} from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { startCountingProxy, waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  drainLanes,
  drainQueue,
  type Fixture,
  makeDeadLetters,
  SOURCE,
  startFixture,
  subscribe,
} from './redrive.fixture.ts'
import { createRedriveService, type RedriveService } from './redrive-service.ts'

let fixture: Fixture
const services: RedriveService[] = []
const lines: string[] = []
beforeAll(async () => {
  fixture = await startFixture()
})
beforeEach(() => fixture.reset())
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(services.splice(0).map((service) => service.stop()))
  lines.length = 0
})
afterAll(() => fixture.stop())

const everything = { source: SOURCE, destination: null, maxMessagesPerSecond: null, filter: {} }
const status = async (id: string) => (await fixture.redrives.get(id))?.status

function logger(): Logger {
  return createLogger({ service: 'test', destination: { write: (line: string) => void lines.push(line) } })
}

type ServeOptions = Partial<Parameters<typeof createRedriveService>[0]>

async function serve(
  sweepEveryMs?: number,
  { metrics = createMetrics(), redisUrl = fixture.server.url, ...options }: ServeOptions = {},
): Promise<RedriveService> {
  const service = createRedriveService({ redisUrl, log: logger(), sweepEveryMs, metrics, ...options })
  services.push(service)
  await service.start()
  return service
}

test('a task is taken up when it is created and leaves no job behind', async () => {
  await serve()
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 250)
  const task = await fixture.redrives.create(everything)
  await waitFor(async () => (await status(task.id)) === 'completed')
  await drainLanes(fixture)
  expect(fixture.delivered.length).toBe(250)
  await waitFor(async () => (await fixture.redis.exists(`ft:{redrive}:redrive:${task.id}`)) === 0)
})

test('before the time is moved, a task counts as under way from its wake on', async () => {
  const stackId = 'a-stack'
  await fixture.redis.set('ft:{time}:travel', stackId)
  await serve(undefined, { travel: { mode: 'local', timeTravel: 'on' } })
  const task = await fixture.redrives.create(everything)
  await waitFor(async () => (await status(task.id)) === 'completed')
  const listener = fixture.redis.duplicate()
  const answers: string[][] = []
  listener.on('message', (_, text: string) => answers.push(JSON.parse(text).busy))
  await listener.subscribe(travelAnswers(stackId))
  const question = [travelQuestions(stackId), JSON.stringify({ ask: 1, offsetMs: 0 })] as const
  await waitFor(async () => (await fixture.redis.publish(...question)) > 0, { what: 'the service to listen' })
  await waitFor(() => answers.length === 1)
  const wake = [WAKE_REDRIVES, task.id] as const
  await fixture.redis
    .pipeline()
    .publish(...wake)
    .publish(...question)
    .exec()
  await waitFor(() => answers.length === 2)
  expect(answers[1]).toEqual([expect.stringMatching(/^\d redrives that begin$/)])
  listener.disconnect()
})

test('moved messages and those without a destination are counted by their queue', async () => {
  const metrics = createMetrics()
  await serve(undefined, { metrics })
  const [id, gone] = [await subscribe(fixture), await subscribe(fixture)]
  await makeDeadLetters(fixture, id, 150)
  await makeDeadLetters(fixture, gone, 2)
  await fixture.subscriptions.delete(gone)
  const task = await fixture.redrives.create(everything)
  const series = () =>
    [...metrics.redrivenMessages.series()].map(({ labels, value }) => ({ ...labels, value }))
  await waitFor(() => series().reduce((sum, { value }) => sum + value, 0) >= 152)
  expect(series()).toEqual([
    { queue: 'dead', result: 'moved', value: 150 },
    { queue: 'dead', result: 'skipped', value: 2 },
  ])
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 150, skipped: 2 })
})

test('a paused task has no job; resume and cancel give it one', async () => {
  await serve()
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 30)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 4 })
  await waitFor(async () => ((await fixture.redrives.get(task.id))?.moved ?? 0) > 0)
  await fixture.redrives.pause(task.id)
  await waitFor(async () => (await fixture.redis.exists(`ft:{redrive}:redrive:${task.id}`)) === 0)
  await fixture.redrives.resume(task.id)
  const moved = (await fixture.redrives.get(task.id))?.moved ?? 0
  await waitFor(async () => ((await fixture.redrives.get(task.id))?.moved ?? 0) > moved)
  await fixture.redrives.cancel(task.id)
  await waitFor(async () => (await status(task.id)) === 'canceled')
})

test('a task that was resumed while its last job was still ending is run on', async () => {
  await serve()
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 40)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 20 })
  for (let i = 0; i < 5; i++) {
    const moved = (await fixture.redrives.get(task.id))?.moved ?? 0
    await waitFor(async () => ((await fixture.redrives.get(task.id))?.moved ?? 0) > moved)
    await fixture.redrives.pause(task.id)
    await fixture.redrives.resume(task.id)
  }
  await fixture.redrives.patch(task.id, { maxMessagesPerSecond: null })
  await waitFor(async () => (await status(task.id)) === 'completed')
})

test('a task whose wake was lost is found at the start and by the sweep', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 2)
  const first = await fixture.redrives.create(everything)
  await serve(200)
  await waitFor(async () => (await status(first.id)) === 'completed')
  const wakes = await fixture.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')
  expect(wakes).toContain('fantail-redrive-wakes')
  await services[0]?.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await makeDeadLetters(fixture, id, 2)
  const second = await fixture.redrives.create(everything)
  await waitFor(async () => (await status(second.id)) === 'completed')
})

/** A function changes the stored value. null: the member is lost. */
const DAMAGE: Record<string, [member: string, change: string | null | ((stored: string) => string)]> = {
  'a filter that is no JSON': ['filter', '{"subscription":"arn'],
  'a filter with an unknown member': [
    'filter',
    '{"subscripuion":"arn:aws:sns:us-east-1:000000000000:orders:x"}',
  ],
  'a filter with another value': ['filter', (stored) => stored.replace(':none', ':nona')],
  'a wider filter': ['filter', (stored) => `{}${stored.slice(-6)}`],
  'another action': ['action', (stored) => (stored === 'purge' ? 'redrive' : 'purge')],
  'another destination': ['destination', queueArn('third-dead')],
  'another canary': ['canary', '9'],
  'no filter': ['filter', null],
  'no action': ['action', null],
  'no destination': ['destination', null],
  'no source': ['source', null],
  'no status': ['status', null],
}

test.each(Object.keys(DAMAGE))(
  'a task with %s moves and removes nothing, and stops no other',
  async (name) => {
    const [member = '', change = null] = DAMAGE[name] ?? []
    const other = queueArn('other-dead')
    await fixture.queues.put(other, {})
    const id = await subscribe(fixture)
    await makeDeadLetters(fixture, id, 2)
    const damaged = [
      await fixture.redrives.createPurge(SOURCE, { subscription: `${SOURCE}:none` }),
      await fixture.redrives.create({
        ...everything,
        source: other,
        filter: { subscription: `${SOURCE}:none` },
      }),
    ]
    for (const { id: task } of damaged) {
      const [key = ''] = await fixture.redis.keys(`*redrive:${task}`)
      if (change === null) await fixture.redis.hdel(key, member)
      else {
        const stored = (await fixture.redis.hget(key, member)) ?? ''
        await fixture.redis.hset(key, member, typeof change === 'string' ? change : change(stored))
      }
    }
    const metrics = createMetrics()
    await serve(200, { metrics })
    const third = queueArn('third-dead')
    await fixture.queues.put(third, {})
    const good = await fixture.redrives.create({ ...everything, source: third })
    await waitFor(async () => (await status(good.id)) === 'completed')
    const listed = (await fixture.redrives.list({ limit: 10 })).items.map((task) => task.id)
    expect(listed).toEqual([good.id])
    const entries = async () => (await new Quarantine(fixture.redis).list({ limit: 10 })).items
    await waitFor(async () => (await entries()).length === 2)
    expect((await entries()).every(({ reason }) => reason === 'recordUnreadable')).toBe(true)
    expect(metrics.quarantineAdded.of({ cause: 'recordUnreadable' }).value).toBe(2)
    expect(await fixture.queues.getWithCounts(SOURCE)).toMatchObject({ counts: { visible: 2 } })
    for (const { id: task, source } of damaged) {
      const again = { ...everything, source }
      await expect(fixture.redrives.create(again)).rejects.toMatchObject({ code: 'redrive_active' })
      await expect(fixture.redrives.resume(task)).rejects.toMatchObject({ code: 'wrong_state' })
      expect(await fixture.redrives.cancel(task)).toMatchObject({ id: task, status: 'canceled' })
      const next = await fixture.redrives.create(again)
      await waitFor(async () => (await status(next.id)) === 'completed')
    }
  },
)

test('damaged keys, push consumers and applications are listed until they are mended, a key without its text', async () => {
  const { redis } = fixture
  const id = `FK${'A'.repeat(18)}`
  const arn = platformApplicationArn('GCM', 'shop', ARN_DEFAULTS)
  const applicationKey = `${shardBase(shardOf(arn))}app:${arn}`
  const [keys, consumers, applications] = [
    new ApiKeys(redis),
    new PushConsumerRecords(redis),
    new PlatformApplications(redis),
  ]
  await keys.create({ ...aKey, id })
  await consumers.put(SOURCE, 'hook', { url: 'https://example.com/in' })
  await applications.create({ arn, platform: 'GCM', sealed: 'x', attributes: {}, createdAt: 1 })
  const consumersKey = `${shardBase(shardOf(SOURCE))}q:${(await fixture.queues.get(SOURCE))?.uid}:push-consumers`
  const intact = await redis.hget('ft:{keys}:records', id)
  await redis.hset('ft:{keys}:records', id, `${intact}~`)
  await redis.hset(consumersKey, 'hook', '{}')
  await redis.set(applicationKey, '{}')
  await serve(200)
  const entries = async () => (await new Quarantine(redis).list({ limit: 10 })).items
  await waitFor(async () => (await entries()).length === 3)
  const texts = (await entries()).map(({ id: entry, rawBytes }) => [entry, rawBytes])
  expect(texts.sort()).toEqual([
    [`record.${applicationKey}`, 2],
    [`record.ft:{keys}:records ${id}`, 0],
    [`record.push consumers of ${SOURCE}`, 2],
  ])
  await redis.hset('ft:{keys}:records', id, intact ?? '')
  await consumers.delete(SOURCE, 'hook')
  await applications.delete(arn)
  await waitFor(async () => (await entries()).length === 0)
})

test('an entry of a record stays while a sweep fails, because others may not have been looked at', async () => {
  const { redis } = fixture
  const unfinished = `${shardBase(0)}unfinished`
  await redis.zadd(unfinished, 0, 'unknown|note')
  const [first, second] = ['A', 'B'].map((letter) => `FK${letter.repeat(18)}`) as [string, string]
  const damage = async (id: string) => {
    await new ApiKeys(redis).create({ ...aKey, id })
    await redis.hset('ft:{keys}:records', id, '~')
  }
  const listed = async () =>
    (await new Quarantine(redis).list({ limit: 10 })).items.map(({ id }) => id.slice(-20))
  await serve(200)
  await damage(first)
  await waitFor(async () => (await listed()).length === 1)
  await new ApiKeys(redis).revoke(first)
  await damage(second)
  await waitFor(async () => (await listed()).includes(second))
  expect(await listed()).toEqual([first, second])
  await redis.del(unfinished)
  await waitFor(async () => (await listed()).length === 1)
  expect(await listed()).toEqual([second])
})

const aKey = {
  kind: 'native' as const,
  name: 'a key',
  account: '000000000000',
  scopes: [],
  prefixes: [],
  maxRequestsPerSecond: null,
  createdAt: 1,
}

test('a task with a batch under way that cannot be read returns its batch when it is canceled', async () => {
  await makeDeadLetters(fixture, await subscribe(fixture), 3)
  const { id } = await fixture.redrives.create(everything)
  const { redis, redrives, queues, batches } = fixture
  const fence = (await batches.open(id)) ?? 0
  const run = { id, fence, source: SOURCE, destination: null, filter: {} }
  const choice = await batches.choose(run)
  expect(choice).toMatchObject({ kind: 'batch' })
  const [key = ''] = await redis.keys(`*redrive:${id}`)
  await redis.hset(key, 'filter', '{')
  expect(await queues.getWithCounts(SOURCE)).toMatchObject({ counts: { visible: 0, inFlight: 3 } })
  expect(await redrives.cancel(id)).toMatchObject({ id, status: 'canceled' })
  expect(await queues.getWithCounts(SOURCE)).toMatchObject({ counts: { visible: 3, inFlight: 0 } })
  expect(await batches.finish(run, 1, new Map([['x', true]]), {})).toBe(false)
  expect(await redrives.create(everything)).toMatchObject({ status: 'running' })
})

test('a service that stops hands its task to another one', async () => {
  const one = await serve()
  await serve()
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 60)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 40 })
  await waitFor(async () => ((await fixture.redrives.get(task.id))?.moved ?? 0) > 0)
  await one.stop()
  services.splice(0, 1)
  await waitFor(async () => (await status(task.id)) === 'completed')
  await drainLanes(fixture)
  expect(new Set(fixture.delivered).size).toBe(60)
  expect(fixture.delivered.length).toBe(60)
})

test('a process that is killed in the middle of a task loses and doubles nothing', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const env = { ...process.env, REDIS_URL: fixture.server.url, FANTAIL_OPS_PORT: '0' }
  const child = spawn(process.execPath, ['--conditions=@fantail/source', main], { env, stdio: 'ignore' })
  try {
    const id = await subscribe(fixture)
    await makeDeadLetters(fixture, id, 60)
    const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 40 })
    await waitFor(async () => ((await fixture.redrives.get(task.id))?.moved ?? 0) > 0)
    child.kill('SIGKILL')
    await serve()
    await waitFor(async () => (await status(task.id)) === 'completed', { timeoutMs: 20_000 })
    await drainLanes(fixture)
    expect(new Set(fixture.delivered).size).toBe(60)
    expect(fixture.delivered.length).toBe(60)
  } finally {
    child.kill('SIGKILL')
  }
})

test('Redis going away and coming back in the middle of a task needs no help', async () => {
  const own = await startFixture({ appendfsync: 'always' })
  const service = createRedriveService({ redisUrl: own.server.url, log: logger() })
  try {
    await own.reset()
    await service.start()
    const id = await subscribe(own)
    await makeDeadLetters(own, id, 40)
    const task = await own.redrives.create({ ...everything, maxMessagesPerSecond: 20 })
    await waitFor(async () => ((await own.redrives.get(task.id))?.moved ?? 0) > 0)
    await own.server.kill()
    await own.server.restart()
    await waitFor(() => own.redis.status === 'ready')
    await waitFor(async () => (await own.redrives.get(task.id))?.status === 'completed')
    await drainLanes(own)
    expect(own.delivered.length).toBe(40)
  } finally {
    await service.stop()
    await own.stop()
  }
})

test('sweeps run by themselves: old messages of an idle queue go away', async () => {
  await fixture.queues.patch(SOURCE, { retentionSeconds: 60 })
  const [service] = [await serve(200), await serve(200)]
  await makeDeadLetters(fixture, await subscribe(fixture), 3, { deadLetteredAt: Date.now() - 100_000 })
  const uid = (await fixture.queues.get(SOURCE))?.uid
  await waitFor(async () => (await service?.redis.keys(`*q:${uid}:i:*`))?.length === 0)
  expect(await drainQueue(fixture, SOURCE)).toEqual([])
})

test('a service without a place for archives says that a topic has one', async () => {
  const arn = topicArn('archived')
  await fixture.topics.put(arn, { archive: { days: 1 } })
  await serve(200)
  const line = await waitFor(() => lines.find((text) => text.includes('sweep_archives.down')))
  expect(line).toContain(`${arn} has an archive: FANTAIL_ARCHIVE must also be set`)
})

async function reads(): Promise<number> {
  return Number(/total_reads_processed:(\d+)/.exec(await fixture.redis.info('stats'))?.[1])
}

/** All periodic commands of an idle service, and the time between two of a kind. */
const PERIODIC: Record<string, number> = {
  'ping ': 10_000,
  'time ': 30_000,
  'bzpopmin ft:{redrive}:redrive:marker': 8_000,
  'script ft:{redrive}:redrive:wait': 8_000,
  'script ft:{redrive}:redrive:stalled': 5_000,
  'bzpopmin ft:{maintenance}:maintenance:marker': 8_000,
  'script ft:{maintenance}:maintenance:wait': 8_000,
  'script ft:{maintenance}:maintenance:stalled': 30_000,
}
const PER_SECOND_MAX = 1.5
/** A window may begin and end so that it has two commands of a kind too many. */
const SPARE = 2

const nameOf = ([name = '', ...args]: string[]) =>
  /^eval/i.test(name) ? `script ${args[2]}` : `${name.toLowerCase()} ${args[0] ?? ''}`

test('an idle service sends the listed commands, and no others', async () => {
  const sent: string[] = []
  const proxy = await startCountingProxy(fixture.server.port, (commands) =>
    sent.push(...commands.map(nameOf)),
  )
  const service = await serve(3_600_000, { redisUrl: proxy.url })
  const bothWait = async () => (await fixture.redis.info('clients')).includes('blocked_clients:2')
  const quiet = async () => {
    const [before, from] = [sent.length, performance.now()]
    await waitFor(() => performance.now() - from > 300)
    return sent.length === before && bothWait()
  }
  await waitFor(quiet, { what: 'the start to be over' })
  const [before, from] = [sent.length, performance.now()]
  const looks = () => sent.slice(before).some((name) => name.endsWith(':wait'))
  await waitFor(looks, { what: 'a look for jobs' })
  const elapsedMs = performance.now() - from
  const idle = sent.slice(before)
  // Without Redis, the service would wait for the answer if it asks for a job at this moment.
  await service.stop()
  proxy.stop()
  expect(idle.filter((name) => !(name in PERIODIC))).toEqual([])
  for (const [name, everyMs] of Object.entries(PERIODIC)) {
    const count = idle.filter((one) => one === name).length
    expect(count, name).toBeLessThanOrEqual(SPARE + elapsedMs / everyMs)
  }
})

test('the listed commands add up to so few a second', () => {
  const perSecond = Object.values(PERIODIC).reduce((sum, everyMs) => sum + 1_000 / everyMs, 0)
  expect(perSecond).toBeLessThan(PER_SECOND_MAX)
})

test('a minute of sweeps over idle queues adds next to nothing', async () => {
  const before = await reads()
  await fixture.queues.sweep()
  await fixture.redrives.sweep()
  expect(await fixture.redrives.runnable()).toEqual([])
  expect((await reads()) - before).toBeLessThan(20)
})

test('each dead letter that is sent again is an event at Redis’s time for those who listen', async () => {
  await serve()
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  const listener = fixture.redis.duplicate()
  await whenReady(listener)
  const heard: { events: { event: { at: number } }[] }[] = []
  listener.on('message', (_, text: string) => heard.push(JSON.parse(text)))
  await listener.subscribe(liveChannel('p'))
  const interests = [{ id: 'a', types: ['redriven'], max: 100 }]
  const notice = JSON.stringify({ process: 'p', sequence: 1, interests })
  await waitFor(async () => (await fixture.redis.publish(WAKE_LISTENERS, notice)) > 0)
  const id = await subscribe(fixture)
  const [messageId] = await makeDeadLetters(fixture, id, 1)
  await fixture.redrives.create(everything)
  await waitFor(() => heard.length > 0)
  expect(heard[0]?.events).toMatchObject([
    { event: { type: 'redriven', messageId, subscriptionId: id, redrives: 1 } },
  ])
  const redisTime = Number((await fixture.redis.time())[0]) * 1_000
  expect(Math.abs((heard[0]?.events[0]?.event.at ?? 0) - redisTime)).toBeLessThan(60_000)
  listener.disconnect()
})
