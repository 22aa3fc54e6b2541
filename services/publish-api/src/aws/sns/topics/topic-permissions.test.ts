/** Statements of a topic's policy, and its tags, by the SDK's client. */
import {
  AddPermissionCommand,
  CreateTopicCommand,
  DeleteTopicCommand,
  GetTopicAttributesCommand,
  ListTagsForResourceCommand,
  RemovePermissionCommand,
  TagResourceCommand,
  UntagResourceCommand,
} from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
const [ALICE, BOB] = ['111111111111', '222222222222']
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.client.send(new CreateTopicCommand({ Name: 'orders' }))
})

afterAll(() => sns.stop())

const refused = (message: string) => ({ name: 'InvalidParameterException', status: 400, message })

interface Permission {
  TopicArn?: string
  Label?: string
  AWSAccountId?: string[]
  ActionName?: string[]
}
const add = (permission: Permission = {}) => {
  const given = { TopicArn: TOPIC, Label: 'l', AWSAccountId: [ALICE], ActionName: ['Publish'], ...permission }
  return sns.client.send(new AddPermissionCommand(given))
}
const remove = (Label: string, TopicArn = TOPIC) =>
  sns.client.send(new RemovePermissionCommand({ TopicArn, Label }))
const statements = async () => {
  const { Attributes } = await sns.client.send(new GetTopicAttributesCommand({ TopicArn: TOPIC }))
  return JSON.parse(Attributes?.Policy ?? '').Statement as { Sid: string }[]
}

test('a permission is a statement beside the default one, until it is removed', async () => {
  await add({ Label: 'one' })
  await add({
    Label: 'many',
    AWSAccountId: [ALICE, BOB, ALICE],
    ActionName: ['Publish', 'Subscribe', 'Publish'],
  })
  expect((await statements()).slice(1)).toEqual([
    {
      Sid: 'one',
      Effect: 'Allow',
      Principal: { AWS: `arn:aws:iam::${ALICE}:root` },
      Action: 'SNS:Publish',
      Resource: TOPIC,
    },
    {
      Sid: 'many',
      Effect: 'Allow',
      Principal: { AWS: [`arn:aws:iam::${ALICE}:root`, `arn:aws:iam::${BOB}:root`] },
      Action: ['SNS:Publish', 'SNS:Subscribe'],
      Resource: TOPIC,
    },
  ])
  for (const label of ['one', 'many', 'never-added']) await remove(label)
  expect((await statements()).map(({ Sid }) => Sid)).toEqual(['__default_statement_ID'])
})

test('invalid permissions', async () => {
  await add({ Label: 'taken' })
  for (const [permission, message] of [
    [{ Label: 'taken' }, 'Statement already exists'],
    [{ ActionName: ['Fly'] }, 'Policy statement action out of service scope!'],
    [{ ActionName: ['Publish', 'sqs:SendMessage'] }, 'Policy statement action out of service scope!'],
    [{ AWSAccountId: [ALICE, 'me'] }, 'A provided account ID is not valid'],
    [{ AWSAccountId: [] }, 'AWSAccountId Reason: no value for required parameter'],
    [{ ActionName: [] }, 'ActionName Reason: no value for required parameter'],
    [{ Label: '' }, 'Label Reason: no value for required parameter'],
  ] as const) {
    const refusal = await refusalOf(add(permission as Permission))
    expect([permission, refusal]).toEqual([permission, refused(`Invalid parameter: ${message}`)])
  }
  const missing = { name: 'NotFoundException', status: 404, message: 'Topic does not exist' }
  expect(await refusalOf(add({ TopicArn: topicArn('none') }))).toEqual(missing)
  expect(await refusalOf(remove('l', topicArn('none')))).toEqual(missing)
})

test('none of many permissions added at the same time is lost', async () => {
  const labels = Array.from({ length: 10 }, (_, i) => `at-once-${i}`)
  await Promise.all(labels.map((Label) => add({ Label })))
  expect((await statements()).map(({ Sid }) => Sid)).toEqual(expect.arrayContaining(labels))
})

test('actions may be patterns, and patterns made of stars end soon', async () => {
  await add({ Label: 'patterns', ActionName: ['*', 'Get*', '*Attributes'] })
  const ActionName = [`${'*a'.repeat(20_000)}*`]
  expect((await refusalOf(add({ Label: 'stars', ActionName }))).name).toBe('InvalidParameterException')
})

const ResourceArn = topicArn('tagged')
const tag = (tags: Record<string, string>, arn = ResourceArn) => {
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))
  return sns.client.send(new TagResourceCommand({ ResourceArn: arn, Tags }))
}
const untag = (...TagKeys: string[]) => sns.client.send(new UntagResourceCommand({ ResourceArn, TagKeys }))
const tags = async () => {
  const { Tags = [] } = await sns.client.send(new ListTagsForResourceCommand({ ResourceArn }))
  return Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]))
}

test('tags are added, replaced, removed, and go with the topic', async () => {
  const create = () => sns.client.send(new CreateTopicCommand({ Name: 'tagged' }))
  await create()
  expect(await tags()).toEqual({})
  await tag({ a: '1', b: '' })
  await tag({ a: '2', constructor: 'c' })
  expect(await tags()).toEqual({ a: '2', b: '', constructor: 'c' })
  await untag('a', 'never-there')
  expect(await tags()).toEqual({ b: '', constructor: 'c' })
  await sns.client.send(new DeleteTopicCommand({ TopicArn: ResourceArn }))
  await create()
  expect(await tags()).toEqual({})
})

test('[114] fifty tags and no more', async () => {
  const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v']))
  await tag(fifty)
  await tag({ k7: 'again' })
  const quota = 'Could not complete request: tag quota of per resource exceeded'
  expect(await refusalOf(tag({ more: 'v' }))).toEqual({
    name: 'TagLimitExceededException',
    status: 400,
    message: quota,
  })
  expect(Object.keys(await tags())).toHaveLength(50)
  const Tags = Array.from({ length: 51 }, (_, i) => ({ Key: `k${i}`, Value: 'v' }))
  const create = sns.client.send(new CreateTopicCommand({ Name: 'overtagged', Tags }))
  expect((await refusalOf(create)).name).toBe('TagLimitExceededException')
})

test('[114] tags of no topic', async () => {
  const missing = { name: 'ResourceNotFoundException', status: 404, message: 'Resource does not exist' }
  const nowhere = topicArn('none')
  expect(await refusalOf(tag({ a: '1' }, nowhere))).toEqual(missing)
  const list = new ListTagsForResourceCommand({ ResourceArn: nowhere })
  expect(await refusalOf(sns.client.send(list))).toEqual(missing)
  const untagging = new UntagResourceCommand({ ResourceArn: nowhere, TagKeys: ['a'] })
  expect(await refusalOf(sns.client.send(untagging))).toEqual(missing)
})

test('keys have up to 128 characters and come once', async () => {
  const key = 'k'.repeat(129)
  expect(await refusalOf(tag({ [key]: 'v' }))).toEqual({
    name: 'ValidationError',
    status: 400,
    message: `1 validation error detected: Value '${key}' at 'tags.1.member.key' failed to satisfy constraint: Member must have length less than or equal to 128`,
  })
  expect((await refusalOf(tag({ a: 'v'.repeat(257) }))).name).toBe('ValidationError')
  const Tags = [
    { Key: 'a', Value: '1' },
    { Key: 'a', Value: '2' },
  ]
  const twice = sns.client.send(new TagResourceCommand({ ResourceArn, Tags }))
  expect(await refusalOf(twice)).toEqual(refused('Invalid parameter: Duplicated keys are not allowed.'))
})

test('keys that begin with aws: are reserved, when a topic is made and later', async () => {
  const before = await tags()
  const message =
    'Invalid parameter: Tags Reason: aws: prefixed tag key names are not allowed for external use.'
  for (const Key of ['aws:team', 'AWS:Team']) {
    expect(await refusalOf(tag({ fine: '1', [Key]: 'x' }))).toEqual(refused(message))
    const create = new CreateTopicCommand({ Name: 'reserved', Tags: [{ Key, Value: 'x' }] })
    expect(await refusalOf(sns.client.send(create))).toEqual(refused(message))
  }
  expect(await tags()).toEqual(before)
})

test('tag operations answer with an empty result element', async () => {
  const { text } = await sns.query({
    Action: 'TagResource',
    ResourceArn,
    'Tags.member.1.Key': 'k1',
    'Tags.member.1.Value': 'v',
  })
  expect(text).toMatch(/^<TagResourceResponse xmlns="[^"]+"><TagResourceResult\/><ResponseMetadata>/)
})
