import {
  AddPermissionCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  RemovePermissionCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs'
import { queueArn } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

const QueueUrl = 'shared'
let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
  await sqs.client.send(new CreateQueueCommand({ QueueName: QueueUrl }))
})
afterAll(() => sqs.stop())

const FRIEND = '111122223333'
const add = (Label: string, AWSAccountIds: string[], Actions: string[]) =>
  sqs.client.send(new AddPermissionCommand({ QueueUrl, Label, AWSAccountIds, Actions }))
const remove = (Label: string) => sqs.client.send(new RemovePermissionCommand({ QueueUrl, Label }))
async function policy() {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['Policy'] })
  const text = (await sqs.client.send(command)).Attributes?.Policy
  return text === undefined ? undefined : JSON.parse(text)
}

test('permissions are statements of the policy, by label', async () => {
  await add('read', [FRIEND], ['ReceiveMessage'])
  await add('all', [FRIEND, ACCOUNT], ['SendMessage', '*'])
  const root = (account: string) => `arn:aws:iam::${account}:root`
  const Resource = queueArn('shared')
  const read = {
    Sid: 'read',
    Effect: 'Allow',
    Principal: { AWS: root(FRIEND) },
    Action: 'SQS:ReceiveMessage',
    Resource,
  }
  const all = {
    Sid: 'all',
    Effect: 'Allow',
    Principal: { AWS: [root(FRIEND), root(ACCOUNT)] },
    Action: ['SQS:SendMessage', 'SQS:*'],
    Resource,
  }
  const head = { Version: '2008-10-17', Id: `${Resource}/SQSDefaultPolicy` }
  expect(await policy()).toEqual({ ...head, Statement: [read, all] })
  await remove('read')
  expect(await policy()).toEqual({ ...head, Statement: [all] })
  await remove('all')
  expect(await policy()).toBeUndefined()
})

test('a policy of one statement that is no list is added to', async () => {
  const own = { Sid: 'own', Effect: 'Deny', Principal: '*', Action: 'sqs:*', Resource: '*' }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: own })
  await sqs.client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
  await add('more', [FRIEND], ['SendMessage'])
  expect(await policy()).toMatchObject({ Version: '2012-10-17', Statement: [own, { Sid: 'more' }] })
  await remove('own')
  await remove('more')
})

test('a call that SQS refuses is refused and changes nothing', async () => {
  await add('taken', [FRIEND], ['SendMessage'])
  const before = await policy()
  for (const [label, accounts, actions, refusal] of [
    [
      'taken',
      [FRIEND],
      ['SendMessage'],
      'Value taken for parameter Label is invalid. Reason: Already exists.',
    ],
    [
      'other',
      [FRIEND],
      ['DeleteQueue'],
      'Value SQS:DeleteQueue for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action.',
    ],
    [
      'other',
      ['nobody'],
      ['SendMessage'],
      'Value [nobody] for parameter PrincipalId is invalid. Reason: Unable to verify.',
    ],
  ] as const) {
    await expect(add(label, [...accounts], [...actions])).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: refusal,
    })
  }
  await expect(add('bad label', [FRIEND], ['SendMessage'])).rejects.toMatchObject({
    name: 'InvalidParameterValue',
  })
  await expect(add('none', [FRIEND], [])).rejects.toMatchObject({ name: 'MissingParameter' })
  await expect(add('many', [FRIEND], Array(8).fill('SendMessage'))).rejects.toMatchObject({
    name: 'OverLimit',
    message: '8 Actions were found, maximum allowed is 7.',
  })
  await expect(remove('unknown')).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: "Value unknown for parameter Label is invalid. Reason: can't find label.",
  })
  expect(await policy()).toEqual(before)
  await remove('taken')
})

test('AWS Query has its own names for accounts and actions', async () => {
  const given = { Label: 'query', 'AWSAccountId.1': FRIEND, 'ActionName.1': 'SendMessage' }
  await sqs.query({ Action: 'AddPermission', ...given }, `/${ACCOUNT}/shared`)
  expect(await policy()).toMatchObject({ Statement: [{ Sid: 'query', Action: 'SQS:SendMessage' }] })
  const none = await sqs.query({ Action: 'AddPermission', ...given }, `/${ACCOUNT}/nowhere`)
  expect(none.text).toContain('<Code>AWS.SimpleQueueService.NonExistentQueue</Code>')
  const unnamed = await sqs.query({ Action: 'RemovePermission' }, `/${ACCOUNT}/shared`)
  expect(unnamed.text).toContain('The request must contain the parameter Label.')
})
