import { describe, expect, test } from 'vitest'
import { parseAccessPolicy } from './access-policy.ts'
import { takesFromTopic } from './queue-delivery.ts'

const resource = 'arn:aws:sqs:us-east-1:000000000000:orders'
const OWN = 'arn:aws:sns:us-east-1:000000000000:placed'
const FOREIGN = 'arn:aws:sns:us-east-1:222222222222:placed'

const delivery = { resource, now: 1, tags: undefined, organizations: undefined }

const statement = (set: object) => ({
  Effect: 'Allow',
  Principal: { Service: 'sns.amazonaws.com' },
  Action: 'sqs:SendMessage',
  Resource: resource,
  ...set,
})

const fromForeign = { Condition: { ArnEquals: { 'aws:SourceArn': FOREIGN } } }

describe('a queue takes messages of a topic', () => {
  test.each<[what: string, statements: object[] | undefined, own: boolean, foreign: boolean]>([
    ['no policy', undefined, true, false],
    ['an empty policy', [], true, false],
    ['an Allow of the service', [statement({})], true, true],
    ['an Allow of everybody', [statement({ Principal: '*' })], true, true],
    [
      'an Allow of everybody for this topic',
      [statement({ Principal: { AWS: '*' }, ...fromForeign })],
      true,
      true,
    ],
    [
      'an Allow by the source account',
      [statement({ Condition: { StringEquals: { 'aws:SourceAccount': '222222222222' } } })],
      true,
      true,
    ],
    [
      'an Allow of another topic',
      [statement({ Condition: { ArnEquals: { 'aws:SourceArn': OWN } } })],
      true,
      false,
    ],
    ['an Allow of the account, not of SNS', [statement({ Principal: { AWS: '222222222222' } })], true, false],
    ['an Allow of another action', [statement({ Action: 'sqs:ReceiveMessage' })], true, false],
    ['an Allow of another queue', [statement({ Resource: `${resource}-2` })], true, false],
    [
      'an Allow that cannot be judged',
      [statement({ Condition: { BinaryEquals: { x: 'QQ==' } } })],
      true,
      false,
    ],
    [
      'a Deny of the topic beside an Allow',
      [statement({}), statement({ Effect: 'Deny', ...fromForeign })],
      true,
      false,
    ],
    ['a Deny alone', [statement({ Effect: 'Deny' })], false, false],
  ])('%s', (_what, statements, own, foreign) => {
    const policy = statements && parseAccessPolicy(JSON.stringify({ Statement: statements }))
    expect(takesFromTopic(policy, { ...delivery, topicArn: OWN })).toBe(own)
    expect(takesFromTopic(policy, { ...delivery, topicArn: FOREIGN })).toBe(foreign)
  })

  test('a topic whose ARN cannot be read has no account of its own', () => {
    expect(takesFromTopic(undefined, { ...delivery, topicArn: 'placed' })).toBe(false)
  })
})
