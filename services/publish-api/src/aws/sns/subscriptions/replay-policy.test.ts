/** Archives and replays of FIFO topics by the SDK's client. */
import {
  CreateTopicCommand,
  DeleteTopicCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  SetSubscriptionAttributesCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueArn, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('archived.fifo')
const ARCHIVE = '{"MessageRetentionPeriod":"30"}'
const START = { PointType: 'Timestamp', StartingPoint: '2026-11-27T10:00:00.000Z' }
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  const Attributes = { FifoTopic: 'true', ArchivePolicy: ARCHIVE }
  await sns.client.send(new CreateTopicCommand({ Name: 'archived.fifo', Attributes }))
})

afterAll(() => sns.stop())

const topicAttributes = async (TopicArn = TOPIC) =>
  (await sns.client.send(new GetTopicAttributesCommand({ TopicArn }))).Attributes ?? {}
const setArchive = (AttributeValue: string, TopicArn = TOPIC) =>
  sns.client.send(new SetTopicAttributesCommand({ TopicArn, AttributeName: 'ArchivePolicy', AttributeValue }))
const subscribe = async (queue: string, policy?: object, TopicArn = TOPIC) => {
  const Attributes = policy && { ReplayPolicy: JSON.stringify(policy) }
  const command = new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: queueArn(queue), Attributes })
  return (await sns.client.send(command)).SubscriptionArn ?? ''
}
const attributesOf = async (SubscriptionArn: string) =>
  (await sns.client.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))).Attributes ?? {}
const setReplay = (SubscriptionArn: string, policy: object | string) => {
  const AttributeValue = typeof policy === 'string' ? policy : JSON.stringify(policy)
  return sns.client.send(
    new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName: 'ReplayPolicy', AttributeValue }),
  )
}
const textOf = async (call: Promise<unknown>) => (await refusalOf(call)).message

test('an ArchivePolicy among the attributes of the native API begins and ends the archive too', async () => {
  const name = 'archived-natively.fifo'
  const put = (ArchivePolicy: string) =>
    sns.api.call('PUT', `/v1/topics/${name}`, { body: { fifo: true, attributes: { ArchivePolicy } } })
  expect((await put(ARCHIVE)).body).toMatchObject({ archive: { days: 30 } })
  expect(JSON.parse((await topicAttributes(topicArn(name))).ArchivePolicy ?? '')).toEqual(JSON.parse(ARCHIVE))
  expect((await put('{}')).body).toMatchObject({ archive: null })
})

test('[411] an archive has 1 to 365 days, and an empty text is no policy', async () => {
  for (const days of ['1', '365']) {
    await setArchive(`{"MessageRetentionPeriod":"${days}"}`)
    expect(JSON.parse((await topicAttributes()).ArchivePolicy ?? '')).toEqual({
      MessageRetentionPeriod: days,
    })
    expect((await sns.api.deps.topics.get(TOPIC))?.archive).toEqual({ days: Number(days) })
  }
  for (const policy of ['{"MessageRetentionPeriod":"0"}', '{"MessageRetentionPeriod":"366"}', ''])
    expect(await textOf(setArchive(policy))).toMatch(/^Invalid parameter: ArchivePolicy/)
  await setArchive(ARCHIVE)
  const Attributes = { FifoTopic: 'true', ArchivePolicy: '{"MessageRetentionPeriod":30}' }
  const again = (ArchivePolicy: string) =>
    sns.client.send(
      new CreateTopicCommand({ Name: 'archived.fifo', Attributes: { ...Attributes, ArchivePolicy } }),
    )
  expect((await again(ARCHIVE)).TopicArn).toBe(TOPIC)
  expect(await textOf(again('{"MessageRetentionPeriod":"31"}'))).toContain('already exists with different')
})

test('[412] BeginningArchiveTime comes with the policy, and both go with {}', async () => {
  const { ArchivePolicy, BeginningArchiveTime = '' } = await topicAttributes()
  expect([ArchivePolicy, new Date(BeginningArchiveTime).toISOString()]).toEqual([
    ARCHIVE,
    BeginningArchiveTime,
  ])
  const Attributes = { FifoTopic: 'true', ArchivePolicy: ARCHIVE }
  const created = await sns.client.send(new CreateTopicCommand({ Name: 'other.fifo', Attributes }))
  await setArchive('{}', created.TopicArn)
  const names = Object.keys(await topicAttributes(created.TopicArn))
  expect(names.filter((name) => name.includes('Archive'))).toEqual([])
})

test('[413] a topic with an archive is not deleted, over the native API either', async () => {
  const state = { name: 'InvalidStateException', status: 400 }
  expect(await refusalOf(sns.client.send(new DeleteTopicCommand({ TopicArn: TOPIC })))).toMatchObject({
    ...state,
    message: 'Invalid state: Cannot delete a topic with an ArchivePolicy',
  })
  const { status, body } = await sns.api.call('DELETE', '/v1/topics/archived.fifo')
  expect([status, body.error.code]).toEqual([409, 'wrong_state'])
})

test('without a place for archives no topic gets one', async () => {
  const { settings } = sns.api.deps
  const { archive } = settings
  settings.archive = undefined
  try {
    expect(await textOf(setArchive(ARCHIVE))).toContain('FANTAIL_ARCHIVE')
    const { status, body } = await sns.api.call('PUT', '/v1/topics/native', {
      body: { archive: { days: 1 } },
    })
    expect([status, body.error.code]).toEqual([400, 'validation_failed'])
  } finally {
    settings.archive = archive
  }
})

test('[414] a replay needs a starting point, and a topic with an archive', async () => {
  const arn = await subscribe('plain.fifo')
  for (const [policy, text] of [
    [{ PointType: 'Timestamp' }, 'StartingPoint'],
    [{ StartingPoint: START.StartingPoint }, 'PointType'],
    [{ ...START, StartingPoint: 'yesterday' }, 'StartingPoint'],
    [{ ...START, EndingPoint: START.StartingPoint }, 'EndingPoint'],
    [{ ...START, Other: 'x' }, 'Other'],
    ['x', 'JSON'],
  ] as const)
    expect(await textOf(setReplay(arn, policy))).toMatch(
      new RegExp(`^Invalid parameter: ReplayPolicy: .*${text}`),
    )
  expect(await attributesOf(arn)).not.toHaveProperty('ReplayStatus')
  await sns.client.send(new CreateTopicCommand({ Name: 'plain' }))
  expect(await textOf(subscribe('q', START, topicArn('plain')))).toContain('FIFO topics')
  await sns.client.send(new CreateTopicCommand({ Name: 'none.fifo', Attributes: { FifoTopic: 'true' } }))
  expect(await textOf(subscribe('q.fifo', START, topicArn('none.fifo')))).toContain('no ArchivePolicy')
})

test('[418] a replay is shown with its status, replaces the one before, and ends with its policy', async () => {
  const arn = await subscribe('replayed.fifo', START)
  expect(await attributesOf(arn)).toMatchObject({
    ReplayPolicy: JSON.stringify(START),
    ReplayStatus: 'Pending',
  })
  const tasks = async () => (await sns.api.deps.redrives.list({ source: arn, limit: 10 })).items
  const later = { ...START, EndingPoint: '2026-11-27T11:00:00.000Z' }
  await setReplay(arn, later)
  expect(await attributesOf(arn)).toMatchObject({ ReplayPolicy: JSON.stringify(later) })
  expect((await tasks()).map(({ status }) => status)).toEqual(['running', 'canceled'])
  await setReplay(arn, '{}')
  const shown = await attributesOf(arn)
  expect([shown.ReplayPolicy, shown.ReplayStatus]).toEqual([undefined, undefined])
  expect((await tasks()).map(({ status }) => status)).toEqual(['canceled', 'canceled'])
})

test('a replay that ends at its start leaves its subscription free', async () => {
  const arn = await subscribe('early.fifo')
  const { redrives, subscriptions } = sns.api.deps
  const create = redrives.createResend.bind(redrives)
  redrives.createResend = async (input) => {
    const task = await create(input)
    await redrives.cancel(task.id)
    return task
  }
  try {
    await setReplay(arn, START)
  } finally {
    redrives.createResend = create
  }
  const id = arn.split(':').at(-1) ?? ''
  expect((await subscriptions.get(id))?.replay).toMatchObject({ holds: false })
})

test('a subscription is free when its replay is canceled as a task, also while no process runs it', async () => {
  const arn = await subscribe('canceled.fifo', START)
  const { redrives, subscriptions } = sns.api.deps
  const [task] = (await redrives.list({ source: arn, limit: 1 })).items
  await redrives.pause(task?.id ?? '')
  const replay = async () => (await subscriptions.get(arn.split(':').at(-1) ?? ''))?.replay
  expect(await replay()).toMatchObject({ holds: true })
  expect((await sns.api.call('POST', `/v1/redrives/${task?.id}/cancel`)).status).toBe(200)
  expect(await replay()).toMatchObject({ holds: false })
})
