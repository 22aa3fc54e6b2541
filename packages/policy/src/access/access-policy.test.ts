import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AccessRequest, decideAccess, parseAccessPolicy } from './access-policy.ts'
import { keysOfDelivery } from './condition-keys.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:orders'
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:placed'

const SENDING: AccessRequest = {
  service: 'sns.amazonaws.com',
  action: 'sqs:SendMessage',
  resource: QUEUE,
  keys: keysOfDelivery({
    resource: QUEUE,
    topicArn: TOPIC,
    now: 0,
    tags: undefined,
    organizations: undefined,
  }),
}

const statement = (set: object) => ({
  Effect: 'Allow',
  Principal: '*',
  Action: 'sqs:SendMessage',
  Resource: QUEUE,
  ...set,
})

/** A policy variable. */
const inserted = (key: string) => `\${${key}}`

function decide(statements: object | object[], request = SENDING) {
  const policy = parseAccessPolicy(JSON.stringify({ Version: '2012-10-17', Statement: statements }))
  if (!policy) throw new Error('it is a policy')
  return decideAccess(policy, request)
}

describe('statements about a request', () => {
  test.each<[what: string, set: object, concerned: boolean]>([
    ['everybody', {}, true],
    ['everybody by the older spelling', { Principal: { AWS: '*' } }, true],
    ['the service', { Principal: { Service: 'sns.amazonaws.com' } }, true],
    ['one of several services', { Principal: { Service: ['s3.amazonaws.com', 'sns.amazonaws.com'] } }, true],
    ['another service', { Principal: { Service: 's3.amazonaws.com' } }, false],
    ['an account', { Principal: { AWS: 'arn:aws:iam::000000000000:root' } }, false],
    ['all but the service', { Principal: undefined, NotPrincipal: { Service: 'sns.amazonaws.com' } }, false],
    ['all but an account', { Principal: undefined, NotPrincipal: { AWS: '000000000000' } }, true],
    ['the action in other letters', { Action: ['SQS:ReceiveMessage', 'SQS:sendmessage'] }, true],
    ['actions by pattern', { Action: 'sqs:Send*' }, true],
    ['every action', { Action: '*' }, true],
    ['another action', { Action: 'sqs:ReceiveMessage' }, false],
    ['all but other actions', { Action: undefined, NotAction: 'sqs:ReceiveMessage' }, true],
    ['all but this action', { Action: undefined, NotAction: 'sqs:*' }, false],
    ['another queue', { Resource: `${QUEUE}-2` }, false],
    ['queues by pattern', { Resource: 'arn:aws:sqs:*:*:ord?rs' }, true],
    ['all but this queue', { Resource: undefined, NotResource: QUEUE }, false],
    ['no resource named', { Resource: undefined }, true],
  ])('%s', (_what, set, concerned) => {
    expect(decide(statement(set))).toBe(concerned ? 'allow' : 'none')
    expect(decide([statement({ ...set, Effect: 'Deny' }), statement({})])).toBe(concerned ? 'deny' : 'allow')
  })
})

describe('an account’s key', () => {
  const { service: _, ...rest } = SENDING
  const caller = { account: '222222222222', arn: 'arn:aws:iam::222222222222:user/FKBOB' }
  test.each<[principal: unknown, named: boolean]>([
    ['*', true],
    [{ AWS: '*' }, true],
    [{ AWS: '222222222222' }, true],
    [{ AWS: ['111111111111', 'arn:aws:iam::222222222222:root'] }, true],
    [{ AWS: 'arn:aws:iam::222222222222:user/FKBOB' }, true],
    [{ AWS: 'arn:aws:iam::222222222222:user/FKEVE' }, false],
    [{ AWS: 'arn:aws:iam::222222222222:*' }, false],
    [{ AWS: '111111111111' }, false],
    [{ Service: '*' }, false],
    [{ Service: 'sns.amazonaws.com' }, false],
    [{ Federated: '222222222222' }, false],
  ])('is named by %j: %s', (Principal, named) => {
    const request = { ...rest, caller }
    expect(decide(statement({ Principal }), request)).toBe(named ? 'allow' : 'none')
    const others = statement({ Principal: undefined, NotPrincipal: Principal })
    expect(decide(others, request)).toBe(named ? 'none' : 'allow')
  })
})

describe('conditions', () => {
  test.each<[condition: object, holds: boolean]>([
    [{ ArnEquals: { 'aws:SourceArn': TOPIC } }, true],
    [{ ArnEquals: { 'AWS:sourcearn': [`${TOPIC}-2`, TOPIC] } }, true],
    [{ ArnEquals: { 'aws:SourceArn': 'arn:aws:sns:*:*:pl*' } }, true],
    [{ ArnLike: { 'aws:SourceArn': 'arn:aws:sns:us-east-1:000000000000:*' } }, true],
    // A `*` matches within one part of an ARN, never across a colon.
    [{ ArnLike: { 'aws:SourceArn': 'arn:aws:sns:*:placed' } }, false],
    [{ ArnEquals: { 'aws:SourceArn': `${TOPIC}-2` } }, false],
    [{ ArnNotEquals: { 'aws:SourceArn': TOPIC } }, false],
    [{ ArnNotLike: { 'aws:SourceArn': 'arn:aws:sns:*:*:other' } }, true],
    [{ StringEquals: { 'aws:SourceAccount': '000000000000' } }, true],
    [{ StringEquals: { 'aws:SourceAccount': '111111111111' } }, false],
    [{ StringNotEquals: { 'aws:SourceAccount': '111111111111' } }, true],
    [{ StringLike: { 'aws:SourceArn': 'arn:aws:sns:*:placed' } }, true],
    [{ StringNotLike: { 'aws:SourceArn': '*' } }, false],
    [{ StringEqualsIgnoreCase: { 'aws:SourceArn': TOPIC.toUpperCase() } }, true],
    [{ StringEquals: { 'aws:SourceArn': TOPIC.toUpperCase() } }, false],
    [{ Bool: { 'aws:SecureTransport': 'false' } }, false],
    [{ Bool: { 'aws:SecureTransport': true } }, true],
    [{ StringEquals: { 'aws:PrincipalAccount': '000000000000' } }, false],
    [{ StringEqualsIfExists: { 'aws:PrincipalAccount': '111111111111' } }, true],
    [{ StringNotEquals: { 'aws:PrincipalAccount': '000000000000' } }, true],
    [{ Null: { 'aws:PrincipalAccount': 'true' } }, true],
    [{ Null: { 'aws:SourceArn': 'true' } }, false],
    [{ StringEquals: { 'aws:SourceAccount': '000000000000', 'aws:PrincipalAccount': 'x' } }, false],
    [{ ArnEquals: { 'aws:SourceArn': TOPIC }, StringEquals: { 'aws:SourceAccount': 'x' } }, false],
    [{ IpAddress: { 'aws:SourceIp': '0.0.0.0/0' } }, false],
    [{ 'ForAllValues:StringEquals': { 'aws:SourceAccount': '000000000000' } }, true],
    [{ 'ForAllValues:StringEquals': { 'aws:PrincipalAccount': 'x' } }, true],
    [{ 'ForAnyValue:StringEquals': { 'aws:PrincipalAccount': 'x' } }, false],
  ])('%j', (Condition, holds) => {
    expect(decide(statement({ Condition, Effect: 'Deny' }))).toBe(holds ? 'deny' : 'none')
  })

  test.each<[condition: object, holds: boolean]>([
    [{ IpAddress: { 'aws:SourceIp': '203.0.113.0/24' } }, true],
    [{ IpAddress: { 'aws:SourceIp': ['198.51.100.7', '203.0.113.9'] } }, true],
    [{ IpAddress: { 'aws:SourceIp': '203.0.113.10/32' } }, false],
    [{ IpAddress: { 'aws:SourceIp': '2001:db8::/32' } }, false],
    [{ IpAddress: { 'aws:SourceIp': 'nowhere' } }, false],
    [{ IpAddress: { 'aws:SourceIp': '198.51.100.0/' } }, false],
    [{ NotIpAddress: { 'aws:SourceIp': '203.0.113.0/24' } }, false],
    [{ NotIpAddress: { 'aws:SourceIp': '198.51.100.0/24' } }, true],
    [{ DateGreaterThan: { 'aws:CurrentTime': '2026-01-01T00:00:00Z' } }, true],
    [{ DateLessThan: { 'aws:CurrentTime': '2026-01-01T00:00:00Z' } }, false],
    [{ DateLessThanEquals: { 'aws:CurrentTime': '1793000000' } }, true],
    [{ NumericLessThan: { 'aws:MultiFactorAuthAge': '301' } }, true],
    [{ NumericGreaterThanEquals: { 'aws:MultiFactorAuthAge': 301 } }, false],
    [{ NumericNotEquals: { 'aws:MultiFactorAuthAge': '300' } }, false],
    [{ NumericNotEquals: { 'aws:MultiFactorAuthAge': ['soon', 301] } }, false],
  ])('judge addresses, dates and numbers: %j', (Condition, holds) => {
    const known: Record<string, string> = {
      'aws:sourceip': '203.0.113.9',
      'aws:currenttime': '2026-06-01T00:00:00Z',
      'aws:multifactorauthage': '300',
    }
    expect(decide(statement({ Condition }), { ...SENDING, keys: (key) => known[key] })).toBe(
      holds ? 'allow' : 'none',
    )
  })

  test('a key with several values is compared as its qualifier says', () => {
    const names = 'aws:PrincipalServiceNamesList'
    const holds: [condition: object, holds: boolean][] = [
      [{ 'ForAnyValue:StringEquals': { [names]: 'sns.amazonaws.com' } }, true],
      [{ 'ForAllValues:StringEquals': { [names]: 'sns.amazonaws.com' } }, false],
      [{ 'ForAllValues:StringLike': { [names]: 'sns.*' } }, true],
      [{ 'ForAnyValue:StringNotEquals': { [names]: 'sns.amazonaws.com' } }, true],
      [{ 'ForAllValues:StringNotEquals': { [names]: ['sqs.amazonaws.com', 's3.amazonaws.com'] } }, true],
      [{ 'ForAnyValue:StringNotEquals': { 'aws:PrincipalArn': 'x' } }, false],
      [{ 'ForAnyValue:StringEqualsIfExists': { 'aws:PrincipalArn': 'x' } }, true],
    ]
    for (const [Condition, expected] of holds) {
      expect(decide(statement({ Condition })), JSON.stringify(Condition)).toBe(expected ? 'allow' : 'none')
    }
  })

  test.each<[condition: unknown]>([
    [{ 'aws:SourceArn': TOPIC }],
    [{ StringLike: { 'aws:PrincipalServiceNamesList': 'sns.*' } }],
    [{ StringNotEquals: { 'aws:PrincipalType': 'User' } }],
    [{ 'ForAllValues:StringEqualsIfExists': { 'aws:Unheard': 'x' } }],
    [{ Null: { 'aws:Unheard/of': 'true' } }],
    [{ Null: { 'aws:SourceArn': 'maybe' } }],
    [{ StringNotEquals: { 'aws:SourceArn': [] } }],
    [{ StringNotEquals: { 'aws:SourceArn': [null] } }],
    [{ StringNotEquals: { 'aws:SourceArn': [['x', TOPIC]] } }],
    [{ StringEquals: { 'aws:SourceArn': { is: TOPIC } } }],
    [{ Bool: { 'aws:SecureTransport': 'yes' } }],
    [{ NotIpAddress: { 'aws:SourceArn': '10.0.0.0/8' } }],
    [{ DateNotEquals: { 'aws:CurrentTime': 'tomorrow' } }],
    [{ NumericNotEquals: { 'aws:EpochTime': '' } }],
    [{ NumericLessThan: { 'aws:EpochTime': '0x7fffffff' } }],
    [{ DateLessThan: { 'aws:CurrentTime': 'or so 2031' } }],
    [{ DateLessThan: { 'aws:CurrentTime': '2026-06-01T00:00:00' } }],
    [{ ArnLike: { 'aws:SourceArn': '*' } }],
    [{ ArnNotLike: { 'aws:SourceArn': 'arn:aws:sns:placed' } }],
    [{ StringNotEquals: { 'aws:SourceArn': inserted('aws:username') } }],
    [{ StringNotLike: { 'aws:SourceArn': inserted('*') } }],
    [{ BinaryEquals: { 'aws:SourceArn': 'QUJD' } }],
    [{ StringEquals: 'x' }],
    [{ constructor: { 'aws:SourceArn': 'x' } }],
    [5],
  ])('allow nothing and deny if they cannot be judged: %j', (Condition) => {
    expect(decide(statement({ Condition }))).toBe('none')
    expect(decide([statement({ Condition, Effect: 'Deny' }), statement({})])).toBe('deny')
  })

  test('are decided by one that fails before one that cannot be judged', () => {
    const Condition = { StringEquals: { 'aws:Unheard': 'x' }, Bool: { 'aws:PrincipalIsAWSService': 'false' } }
    expect(decide([statement({ Condition, Effect: 'Deny' }), statement({})])).toBe('allow')
  })

  test('policy variables stand for keys, in conditions and resources, from version 2012-10-17 on', () => {
    const same = { StringEquals: { 'aws:ResourceAccount': inserted('aws:SourceAccount') } }
    expect(decide(statement({ Condition: same }))).toBe('allow')
    const own = QUEUE.replace('000000000000', inserted(' aws:SourceAccount '))
    expect(decide(statement({ Resource: own }))).toBe('allow')
    expect(decide(statement({ Resource: undefined, NotResource: own }))).toBe('none')
    const unknown = QUEUE.replace('000000000000', inserted('aws:Unheard'))
    expect(decide(statement({ Resource: unknown }))).toBe('none')
    expect(decide(statement({ Resource: undefined, NotResource: unknown, Effect: 'Deny' }))).toBe('deny')
    const older = parseAccessPolicy(JSON.stringify({ Statement: statement({ Condition: same }) }))
    expect(older && decideAccess(older, SENDING)).toBe('none')
  })

  test('a key that a policy made up is not found on every object', () => {
    for (const key of ['constructor', '__proto__', 'aws:ResourceTag/constructor']) {
      expect(decide(statement({ Condition: { StringLike: { [key]: '*' } } }))).toBe('none')
    }
  })
})

test('a single statement needs no list; without any nothing is decided', () => {
  expect(decide(statement({ Effect: 'Deny' }))).toBe('deny')
  expect(decide([])).toBe('none')
  expect(parseAccessPolicy('{}')).toEqual({ statements: [], hasVariables: false })
})

test.each(['', 'no', '[]', '5', 'null'])('%j is no policy', (text) => {
  expect(parseAccessPolicy(text)).toBeUndefined()
})

test('a pattern means what its regular expression does', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.') })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?') })
  fc.assert(
    fc.property(text, pattern, (resource, glob) => {
      const expression = glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')
      const matches = new RegExp(`^${expression}$`).test(resource)
      expect(decide(statement({ Resource: glob }), { ...SENDING, resource })).toBe(matches ? 'allow' : 'none')
    }),
  )
})

test('deciding never throws, whatever the policy contains', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const statements = [
        statement({ Principal: value, Condition: value }),
        value,
        statement({ Action: value }),
      ]
      const policy = parseAccessPolicy(JSON.stringify({ Statement: statements }))
      expect(['allow', 'deny', 'none']).toContain(policy && decideAccess(policy, SENDING))
    }),
  )
})
