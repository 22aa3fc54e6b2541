/** Perimeters, as AWS documents them for resource policies, and single keys: for a delivery and for an owner’s call. */
import { expect, test } from 'vitest'
import { decideAccess, parseAccessPolicy } from './access-policy.ts'
import { type CallFacts, type ConditionKeys, keysOfCall, keysOfDelivery } from './condition-keys.ts'
import { takesFromTopic } from './queue-delivery.ts'

const OWNER = '111122223333'
const resource = `arn:aws:sqs:eu-west-1:${OWNER}:orders`
const topicArn = `arn:aws:sns:eu-west-1:${OWNER}:placed`
const organizations = new Map([[OWNER, 'o-exampleorgid']])
const delivery = { resource, topicArn, now: Date.UTC(2026, 0, 1), tags: { team: 'shop' }, organizations }
const call: CallFacts = {
  ...delivery,
  ...{ account: OWNER, principalArn: `arn:aws:iam::${OWNER}:user/FKALICE`, userName: 'FKALICE' },
  ...{ isSecure: true, remoteAddress: '203.0.113.9', ofAction: undefined },
  header: (name) => ({ 'user-agent': 'curl/8', referer: 'https://example.com/' })[name],
}

const isAws = { 'aws:PrincipalIsAWSService': 'false' }
const PERIMETERS = {
  identity: {
    StringNotEqualsIfExists: {
      'aws:PrincipalOrgID': 'o-exampleorgid',
      'aws:PrincipalAccount': '999999999999',
    },
    BoolIfExists: isAws,
  },
  network: {
    NotIpAddressIfExists: { 'aws:SourceIp': '203.0.113.0/24' },
    StringNotEqualsIfExists: { 'aws:SourceVpc': 'vpc-1', 'aws:PrincipalTag/dp:exclude:network': 'true' },
    BoolIfExists: { ...isAws, 'aws:ViaAWSService': 'false' },
    ArnNotLikeIfExists: { 'aws:PrincipalArn': 'arn:aws:iam::*:role/aws:ec2-infrastructure' },
  },
  deputy: {
    StringNotEqualsIfExists: { 'aws:SourceOrgID': 'o-exampleorgid', 'aws:SourceAccount': '999999999999' },
    Null: { 'aws:SourceAccount': 'false' },
    Bool: { 'aws:PrincipalIsAWSService': 'true' },
  },
}

const denying = (Condition: object) => {
  const statement = { Effect: 'Deny', Principal: '*', Action: 'sqs:*', Resource: resource, Condition }
  const policy = parseAccessPolicy(JSON.stringify({ Version: '2012-10-17', Statement: statement }))
  if (!policy) throw new Error('it is a policy')
  return policy
}
const delivers = (condition: object, set: Partial<typeof delivery> = {}) =>
  takesFromTopic(denying(condition), { ...delivery, ...set })
const isDenied = (condition: object, set: Partial<CallFacts> = {}) => {
  const facts = { ...call, ...set }
  const caller = { account: facts.account, arn: facts.principalArn }
  const request = { caller, action: 'sqs:SendMessage', resource, keys: keysOfCall(facts) }
  return decideAccess(denying(condition), request) === 'deny'
}

test.each(Object.entries(PERIMETERS))(
  'the %s perimeter lets SNS deliver and its owner call',
  (_name, condition) => {
    expect(delivers(condition)).toBe(true)
    expect(isDenied(condition)).toBe(false)
  },
)

test('each perimeter keeps out whom it should', () => {
  expect(isDenied(PERIMETERS.identity, { account: '222222222222' })).toBe(true)
  expect(isDenied(PERIMETERS.network, { remoteAddress: '198.51.100.1' })).toBe(true)
  expect(delivers(PERIMETERS.deputy, { topicArn: topicArn.replace(OWNER, '222222222222') })).toBe(false)
})

test('without a known organization the identity perimeter denies a call, and still lets SNS deliver', () => {
  expect(isDenied(PERIMETERS.identity, { organizations: undefined })).toBe(true)
  expect(delivers(PERIMETERS.identity, { organizations: undefined })).toBe(true)
})

test.each<[key: string, ofCall: unknown, ofDelivery: unknown]>([
  ['aws:currenttime', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ['aws:epochtime', '1767225600', '1767225600'],
  ['aws:requestedregion', 'eu-west-1', 'eu-west-1'],
  ['aws:resourceaccount', OWNER, OWNER],
  ['aws:resourceorgid', 'o-exampleorgid', 'o-exampleorgid'],
  ['aws:resourcetag/team', 'shop', 'shop'],
  ['aws:resourcetag/other', null, null],
  ['aws:viaawsservice', 'false', 'false'],
  ['aws:calledvia', null, null],
  ['aws:principalisawsservice', 'false', 'true'],
  ['aws:principalservicename', null, 'sns.amazonaws.com'],
  ['aws:principalservicenameslist', null, ['sns.amazonaws.com', 'sns.eu-west-1.amazonaws.com']],
  ['aws:principalaccount', OWNER, null],
  ['aws:principalarn', call.principalArn, null],
  ['aws:principalorgid', 'o-exampleorgid', null],
  ['aws:principaltype', 'User', undefined],
  ['aws:username', 'FKALICE', null],
  ['aws:principaltag/team', undefined, null],
  ['aws:multifactorauthpresent', undefined, null],
  ['aws:sourceip', '203.0.113.9', null],
  ['aws:sourcevpce', undefined, null],
  ['aws:securetransport', 'true', 'true'],
  ['aws:useragent', 'curl/8', 'sns.amazonaws.com'],
  ['aws:referer', 'https://example.com/', null],
  ['aws:sourcearn', null, topicArn],
  ['aws:sourceaccount', null, OWNER],
  ['aws:sourceorgid', null, 'o-exampleorgid'],
  ['aws:sourceorgpaths', null, undefined],
  ['aws:tagkeys', undefined, null],
  ['sns:protocol', null, null],
  ['sqs:unheard', undefined, undefined],
])('%s is %j in a call and %j in a delivery', (key, ofCall, ofDelivery) => {
  const found = (keys: ConditionKeys) => keys(key)
  expect([found(keysOfCall(call)), found(keysOfDelivery(delivery))]).toEqual([ofCall, ofDelivery])
})

test('two tags that differ in letter case alone cannot be told apart', () => {
  const keys = keysOfCall({ ...call, tags: { team: 'a', Team: 'b' } })
  expect(keys('aws:resourcetag/team')).toBeUndefined()
})
