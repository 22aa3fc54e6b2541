/** Events about platform endpoints that deliveries cause: published at least once, also after a worker has died. */
import { directTopicArn, type PlatformApplicationRecord, platformApplicationArn } from '@fantail/contracts'
import { sealPlatformCredential } from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import { PlatformApplications, PlatformEndpoints, shardOf } from '@fantail/store'
import { browserSubscription, vapidCredential, waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  DLQ,
  type FakeSender,
  TOPIC,
  urlOf,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const EVENTS = 'arn:aws:sns:us-east-1:000000000000:events'
const PLACE = { partition: 'aws', region: 'us-east-1', account: '000000000000' }
const APP = platformApplicationArn('WEBPUSH', 'shop', PLACE)
const BROWSER = 'https://push.example/send/1'
const key = parseMasterKey(createMasterKeyText())
if (!key) throw new Error('a new key must be readable')
const vault = createVault([key])
const given = vapidCredential()
const credential = {
  principal: given.PlatformPrincipal ?? '',
  credential: given.PlatformCredential ?? '',
  subject: given.WebPushSubject ?? '',
}

const fixture = await useFixture()
let sender: FakeSender
let status: number
beforeEach(async () => {
  status = 410
  sender = createFakeSender()
  const { send } = sender
  // Providers name headers in an object.
  sender.send = (request, done) => send({ ...request, headers: Object.entries(request.headers).flat() }, done)
  sender.answer = (url) => (url === BROWSER ? status : 200)
  await fixture.topics.put(EVENTS, {})
  await fixture.subscribe('events', { topicArn: EVENTS })
})

const ALL = { EventEndpointUpdated: EVENTS, EventDeliveryFailure: EVENTS }
const endpoints = () => new PlatformEndpoints(fixture.redis)
const events = () =>
  sender.sent.filter(({ url }) => url === urlOf('events')).map(({ body }) => JSON.parse(body))
const eventTypes = () => events().map(({ EventType }) => EventType)
const sends = () => sender.sent.filter(({ url }) => url === BROWSER).length
const start = (options = {}) => fixture.startWorker(sender, { vault, ...options })

async function register(attributes: Record<string, string>): Promise<string> {
  const sealed = sealPlatformCredential(credential, { arn: APP }, vault)
  const app: PlatformApplicationRecord = {
    arn: APP,
    platform: 'WEBPUSH',
    sealed,
    attributes: { Enabled: 'true', ...attributes },
    createdAt: 1,
  }
  await new PlatformApplications(fixture.redis).create(app)
  const { token } = browserSubscription(BROWSER)
  const { endpoint } = await endpoints().create(APP, { token, enabled: true, createdAt: 1 })
  return endpoint.arn
}

const subscribe = (endpoint: string, set = {}) =>
  fixture.subscribe('device', { protocol: 'application', endpoint, rawMessageDelivery: false, ...set })

test('[401] a token that its provider refuses gives both events, and the endpoint owes none', async () => {
  const endpoint = await register(ALL)
  await subscribe(endpoint)
  await start()
  const messageId = await fixture.publish('hello')
  await waitFor(() => events().length === 2, { what: 'two events' })
  const about = { Resource: APP, Service: 'SNS', EndpointArn: endpoint }
  expect(events()).toContainEqual({ ...about, EventType: 'EndpointUpdated', Time: expect.any(String) })
  expect(events()).toContainEqual({
    ...about,
    EventType: 'DeliveryFailure',
    Time: expect.any(String),
    FailureType: 'InvalidPlatformToken',
    FailureMessage: 'Platform token associated with the endpoint is not valid.',
    MessageId: messageId,
  })
  const { isEventOwed, enabled } = (await endpoints().get(endpoint)) ?? {}
  expect({ isEventOwed, enabled }).toEqual({ enabled: false })
  await fixture.publish('again')
  await waitFor(() => events().length === 3, { what: 'the event of the next failure' })
  expect(events()[2]).toMatchObject({ FailureType: 'EndpointDisabled' })
  expect(sends()).toBe(1)
})

test('a direct message that fails gives an event of its target', async () => {
  const endpoint = await register({ EventDeliveryFailure: EVENTS })
  const topicArn = directTopicArn(APP, 0)
  await fixture.topics.create(topicArn, {})
  await subscribe(endpoint.replace(/[0-9a-f]{12}$/, '000000000000'), { topicArn })
  await start()
  const MessageId = await fixture.publish('hello', { topicArn, target: endpoint })
  await waitFor(() => events().length === 1, { what: 'the event' })
  expect(events()[0]).toMatchObject({
    EndpointArn: endpoint,
    MessageId,
    FailureType: 'InvalidPlatformToken',
  })
  const rowOf = async () => (await fixture.outcomes.deliveries(MessageId))?.[0]
  await waitFor(async () => (await rowOf())?.state === 'discarded', { what: 'its end' })
  expect(await rowOf()).toMatchObject({ endpoint, subscriptionId: null, attempts: 1 })
})

test('a dead worker that has disabled an endpoint leaves its event to the next attempt', async () => {
  const endpoint = await register({ EventEndpointUpdated: EVENTS })
  const { token } = (await endpoints().get(endpoint)) ?? { token: '' }
  await endpoints().disable(endpoint, { token, isEventOwed: true })
  await subscribe(endpoint)
  await start()
  await fixture.publish('hello')
  await waitFor(() => events().length === 1, { what: 'the event' })
  expect(eventTypes()).toEqual(['EndpointUpdated'])
  await waitFor(async () => !(await endpoints().get(endpoint))?.isEventOwed, { what: 'no owed event' })
})

test.each([{}, { redrivePolicy: { deadLetterTargetArn: DLQ } }])(
  'a failed delivery stays until its event is published, with %j',
  async (set) => {
    status = 400
    await fixture.queues.put(DLQ, {})
    const endpoint = await register(ALL)
    const { id } = await subscribe(endpoint, set)
    // Past its watermark Redis takes no event. The dead letter still has its share of the memory.
    const { used_memory: used = 0 } = await memoryOf()
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const log = createLogger({ service: 'test', level: 'warn', destination })
    const full = await start({ redisMemoryBytes: Math.round(used / 0.9), log })
    await fixture.publish('hello')
    const waiting = async () => {
      const [lane] = await fixture.lanes.figures([{ subscriptionId: id, shard: shardOf(TOPIC) }])
      return lane?.waiting === 1
    }
    await waitFor(() => lines.some((line) => line.includes('push.event_postponed')), {
      what: 'a refused event',
    })
    await full.stop()
    expect(await waiting()).toBe(true)
    await start()
    await waitFor(() => events().length > 0, { what: 'the event' })
    expect(events()[0]).toMatchObject({ EventType: 'DeliveryFailure', FailureType: 'DeliveryFailedPerm' })
    await waitFor(async () => !(await waiting()), { what: 'the end of the delivery' })
    expect(sends()).toBe(1)
    const letters = (await fixture.queues.getWithCounts(DLQ))?.counts.visible
    expect(letters).toBe('redrivePolicy' in set ? 1 : 0)
  },
)

test('an event that cannot reach its own device gives no further event', async () => {
  const endpoint = await register(ALL)
  await subscribe(endpoint, { topicArn: EVENTS })
  await subscribe(endpoint)
  await start()
  await fixture.publish('hello')
  await waitFor(async () => (await fixture.counts.read())['discarded:permanent'] === 3, { what: 'all ends' })
  expect(eventTypes().sort()).toEqual(['DeliveryFailure', 'EndpointUpdated'])
})

test('a delivery ends without an event if no topic can get it', async () => {
  const endpoint = await register(ALL)
  await fixture.topics.delete(EVENTS)
  await subscribe(endpoint)
  await start()
  await fixture.publish('hello')
  await waitFor(async () => (await fixture.counts.read())['discarded:permanent'] === 1, { what: 'its end' })
  expect((await endpoints().get(endpoint))?.isEventOwed).toBeUndefined()
})

const ROLE = 'arn:aws:iam::000000000000:role/feedback'
const statusLogs = async (attributes: Record<string, string>, texts: string[]) => {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const endpoint = await register(attributes)
  await subscribe(endpoint)
  await start({ log: createLogger({ service: 'test', level: 'info', destination }) })
  for (const [i, text] of texts.entries()) {
    const before = sends()
    await fixture.publish(text)
    await waitFor(() => sends() === before + 1, { what: `notification ${i}` })
    status = 400
  }
  await waitFor(async () => (await fixture.counts.read())['discarded:permanent'] === 1, {
    what: 'the failure',
  })
  return { endpoint, logs: lines.filter(({ msg }) => msg === 'delivery.status') }
}

test('[199] attributes of the application ask for delivery status logs of its own', async () => {
  status = 201
  const asked = { SuccessFeedbackRoleArn: ROLE, FailureFeedbackRoleArn: ROLE }
  const { endpoint, logs } = await statusLogs(asked, ['taken', 'refused'])
  expect(logs).toHaveLength(2)
  expect(logs[0]).toMatchObject({
    logGroup: 'sns/us-east-1/000000000000/app/WEBPUSH/shop',
    delivery: { destination: endpoint, statusCode: 201, attempts: 1 },
    status: 'SUCCESS',
  })
  expect(logs[1]).toMatchObject({
    logGroup: 'sns/us-east-1/000000000000/app/WEBPUSH/shop/Failure',
    delivery: { destination: endpoint, statusCode: 400, attempts: 1 },
    status: 'FAILURE',
  })
})

test('[200] a sample rate of 0 logs no success, and without the role no failure is logged', async () => {
  status = 201
  const asked = { SuccessFeedbackRoleArn: ROLE, SuccessFeedbackSampleRate: '0' }
  expect((await statusLogs(asked, ['taken', 'refused'])).logs).toEqual([])
})

async function memoryOf(): Promise<Record<string, number>> {
  const rows = (await fixture.redis.info('memory')).split('\r\n').map((row) => row.split(':'))
  return Object.fromEntries(rows.map(([name, value]) => [name, Number(value)]))
}
