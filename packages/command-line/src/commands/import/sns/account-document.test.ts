import { createClient } from '@fantail/client/api'
import { expect, test } from 'vitest'
import { OFF_POLICY } from '../../aws/subscription-pairs.ts'
import type { Here } from '../plan/run-import.ts'
import type { AwsSource, SourceQueue, SourceSubscription, SourceTopic } from './aws-source.ts'
import { importSns } from './import-sns.ts'
import { curvesOf } from './retry-curves.ts'

const ACCOUNT = '111122223333'
const PLACE = `us-east-1:${ACCOUNT}`
const ORDERS = `arn:aws:sns:${PLACE}:orders`
const JOBS = `arn:aws:sqs:${PLACE}:jobs`

/** `refused`: the problem of each endpoint that the server is asked about. */
function here(refused: Record<string, string> = {}, server: Partial<Here['server']> = {}): Here {
  const answer = async (request: Request | URL | string) => {
    const { endpoints } = (await (request as Request).json()) as { endpoints: { endpoint: string }[] }
    return Response.json({ problems: endpoints.map(({ endpoint }) => refused[endpoint] ?? null) })
  }
  return {
    client: createClient({
      baseUrl: 'http://fantail.test',
      throwOnError: true,
      responseStyle: 'data',
      fetch: answer as typeof fetch,
    }),
    server: {
      ...{ partition: 'aws', region: 'us-east-1', account: ACCOUNT },
      ...{ hasMasterKey: false, hasArchives: false },
      ...server,
    },
    key: null,
    found: { version: 1, queues: [], topics: [] },
  }
}

const topic = (attributes: SourceTopic['attributes'] = {}, arn = ORDERS): SourceTopic => ({
  arn,
  attributes,
  tags: {},
})
const queue = (attributes: SourceQueue['attributes'] = {}, arn = JOBS): SourceQueue => ({
  arn,
  attributes,
  tags: {},
})
const subscription = (given: Partial<SourceSubscription> = {}): SourceSubscription => ({
  topicArn: ORDERS,
  protocol: 'https',
  endpoint: 'https://crm.example.com/in',
  isConfirmed: true,
  attributes: {},
  ...given,
})
const source = (given: Partial<AwsSource>): AwsSource => ({
  topics: [topic()],
  subscriptions: [],
  queues: [],
  unread: [],
  notes: [],
  ...given,
})

async function lossesOf(given: Partial<AwsSource>, at = here()): Promise<string[]> {
  const { findings } = await importSns(source(given), at)
  return findings
    .sorted()
    .filter(({ what }) => what === 'lost')
    .map(({ matter, text, objects }) => `${matter}: ${text} [${objects.join('; ')}]`)
}

test('a webhook arrives paused, with the requests of SNS, and with its policies as they are stored', async () => {
  const policy = { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 9, numRetries: 5 } }
  const one = subscription({
    attributes: {
      RawMessageDelivery: 'true',
      FilterPolicy: '{"color":["red"]}',
      FilterPolicyScope: 'MessageBody',
      DeliveryPolicy: JSON.stringify({ ...policy, sicklyRetryPolicy: null, guaranteed: false }),
    },
  })
  const { wanted } = await importSns(source({ subscriptions: [one] }), here())
  expect(wanted.topics[0]?.subscriptions).toEqual([
    {
      endpoint: one.endpoint,
      name: null,
      settings: {
        origin: 'aws',
        status: 'paused',
        rawMessageDelivery: true,
        deliveryPolicy: policy,
        redrivePolicy: null,
        filterPolicy: { color: ['red'] },
        filterPolicyScope: 'MessageBody',
        attributes: {},
      },
    },
  ])
})

test('a topic and a queue of another account or region keep their ARNs', async () => {
  const { wanted, findings } = await importSns(
    source({ queues: [queue()] }),
    here({}, { account: '000000000000' }),
  )
  expect([wanted.topics[0]?.name, wanted.queues[0]?.name]).toEqual([ORDERS, JOBS])
  expect(findings.sorted().map(({ remedy }) => remedy)).toContain(`set FANTAIL_ACCOUNT=${ACCOUNT}`)
  const keyed = here()
  keyed.key = { id: 'K', account: '000000000000', scopes: ['manage'], prefixes: [] }
  await expect(importSns(source({}), keyed)).rejects.toThrow('the key is of account 000000000000')
})

test.each<[string, Partial<SourceSubscription>, string]>([
  [
    'a pending endpoint',
    { isConfirmed: false, attributes: undefined },
    'delivery: the endpoint has not confirmed',
  ],
  ['unread settings', { attributes: undefined }, 'messages: its settings could not be read'],
  ['a hidden password', { endpoint: 'https://u:****@h.example/' }, 'messages: SNS shows the password'],
  [
    'a foreign queue',
    { protocol: 'sqs', endpoint: 'arn:aws:sqs:us-east-1:444455556666:q' },
    'messages: its queue',
  ],
  ['an unknown protocol', { protocol: 'fax', endpoint: '1' }, 'messages: the protocol fax is not known here'],
  [
    'a refused filter',
    { attributes: { FilterPolicy: '{"a":[{"no":1}]}' } },
    'messages: its filter policy is refused',
  ],
  [
    'a foreign topic',
    { topicArn: 'arn:aws:sns:us-east-1:444455556666:t' },
    'messages: its topic is of another',
  ],
  [
    'a refused endpoint',
    { endpoint: 'https://no.example' },
    'messages: it cannot be subscribed here: why not',
  ],
])('%s is listed as lost, and its subscription is left out', async (_, given, expected) => {
  const one = subscription(given)
  const at = here({ 'https://no.example': 'why not' })
  const { wanted } = await importSns(source({ subscriptions: [one] }), at)
  expect(wanted.topics.flatMap(({ subscriptions }) => subscriptions)).toEqual([])
  const [first = ''] = await lossesOf({ subscriptions: [one] }, at)
  expect(first).toContain(expected)
  expect(first).toContain(`[${one.protocol} ${one.endpoint} of `)
})

test('a subscription with a hidden password, or with a name, is compared if it exists here', async () => {
  const one = subscription({ endpoint: 'https://u:****@h.example/' })
  const at = here()
  at.found.topics.push({
    name: 'orders',
    settings: {},
    subscriptions: [{ id: '1', endpoint: one.endpoint, name: 'Billing', settings: { protocol: 'https' } }],
  })
  const { wanted } = await importSns(source({ subscriptions: [one] }), at)
  expect(wanted.topics[0]?.subscriptions).toMatchObject([{ endpoint: one.endpoint, name: 'Billing' }])
})

test('a data protection policy that cannot be read again is kept', async () => {
  const at = here()
  const attributes = { DataProtectionPolicy: '{"Name":"kept"}', TracingConfig: 'Active' }
  at.found.topics.push({ name: 'orders', settings: { attributes }, subscriptions: [] })
  const unread = { ...topic({ TracingConfig: 'PassThrough' }), isProtectionUnread: true }
  const attributesOf = async (one: SourceTopic) =>
    (await importSns(source({ topics: [one] }), at)).wanted.topics[0]?.settings.attributes
  expect(await attributesOf(unread)).toEqual({ ...attributes, TracingConfig: 'PassThrough' })
  expect(await attributesOf(topic())).toEqual({})
})

test('a subscription that is switched from AWS keeps its filter here, and bridges are left out', async () => {
  const one = subscription({ attributes: { FilterPolicy: OFF_POLICY } })
  const bridge = `arn:aws:sqs:${PLACE}:fantail-bridge-orders`
  const given = {
    subscriptions: [one, subscription({ protocol: 'sqs', endpoint: bridge })],
    queues: [queue({}, bridge)],
  }
  expect((await lossesOf(given))[0]).toContain('messages: it is switched off at AWS')
  const at = here()
  const found = { id: '1', endpoint: one.endpoint, name: null, settings: { protocol: 'https' } }
  at.found.topics.push({ name: 'orders', settings: {}, subscriptions: [found] })
  const { wanted } = await importSns(source(given), at)
  expect(wanted.queues).toEqual([])
  expect(wanted.topics[0]?.subscriptions.map(({ endpoint }) => endpoint)).toEqual([one.endpoint])
  expect(wanted.topics[0]?.subscriptions[0]?.settings).not.toHaveProperty('filterPolicy')
})

test('policies and encryption that cannot work here are listed by their weight', async () => {
  const allow = { Effect: 'Allow', Principal: { Service: 'events.amazonaws.com' }, Action: 'SNS:Publish' }
  const deny = {
    ...{ Effect: 'Deny', Principal: { AWS: `arn:aws:iam::${ACCOUNT}:role/x` }, Action: 'SNS:Publish' },
    Condition: { StringNotEquals: { 'aws:SourceVpce': 'vpce-1' } },
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [allow, deny] })
  const given = {
    topics: [topic({ Policy, TracingConfig: 'Active', NewThing: 'x' })],
    queues: [queue({ KmsMasterKeyId: 'alias/k', ApproximateNumberOfMessages: '3' })],
    unread: [
      { call: 'sqs:ListQueueTags', code: 'AccessDenied', objects: [JOBS] },
      { call: 'sns:GetDataProtectionPolicy', code: 'UnreadableAnswer', objects: [JOBS] },
    ],
  }
  const { wanted, findings } = await importSns(source(given), here())
  expect(findings.sorted().map(({ matter, what, text }) => [matter, what, text])).toEqual([
    ['messages', 'lost', 'events.amazonaws.com may send to it at AWS, and sends nothing here'],
    ['messages', 'lost', 'messages that wait in queues stay at AWS'],
    ['messages', 'lost', expect.stringContaining('functions that Lambda feeds from queues')],
    ['access', 'lost', 'messages are encrypted by a key of KMS at AWS, and are not here'],
    ['access', 'changed', 'the access policy names users or roles of IAM, and keys have other names here'],
    [
      'access',
      'changed',
      'a Deny of the access policy asks for aws:SourceVpce, which nobody knows here, so that it denies every call',
    ],
    ['access', 'changed', expect.stringContaining('IAM does not come over')],
    ['requests', 'changed', expect.stringContaining('each subscription has another ARN')],
    ['requests', 'changed', expect.stringContaining('queues have URLs at this server')],
    ['details', 'lost', 'attribute NewThing, which is not known here'],
    ['details', 'lost', 'tags of queues (AccessDenied)'],
    ['details', 'lost', 'data protection policies (UnreadableAnswer)'],
    ['details', 'lost', 'alarms and dashboards of CloudWatch'],
    ['details', 'changed', 'TracingConfig is kept, and has no effect here'],
  ])
  const advised = findings.sorted().filter(({ remedy }) => remedy?.startsWith('allow '))
  expect(advised.map(({ text }) => text)).toEqual(['tags of queues (AccessDenied)'])
  expect(wanted.topics[0]?.settings.attributes).toEqual({ Policy, TracingConfig: 'Active' })
  expect(wanted.queues[0]?.settings.attributes).toEqual({})
})

test('encryption comes over to a server with a master key, and SNS’s default policy is no policy', async () => {
  const Policy = JSON.stringify({
    Id: '__default_policy_ID',
    Statement: [
      {
        Sid: '__default_statement_ID',
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: ['SNS:Publish'],
        Resource: ORDERS,
        Condition: { StringEquals: { 'AWS:SourceOwner': ACCOUNT } },
      },
    ],
  })
  const opened = Policy.replace('"AWS:SourceOwner"', '"aws:PrincipalArn"')
  const given = {
    topics: [topic({ Policy }), topic({ Policy: opened }, `${ORDERS}-2`)],
    queues: [queue({ SqsManagedSseEnabled: 'true' }), queue({ KmsMasterKeyId: 'k' }, `${JOBS}-2`)],
  }
  const { wanted } = await importSns(source(given), here({}, { hasMasterKey: true }))
  expect(wanted.topics.map(({ settings }) => settings.attributes)).toEqual([{}, { Policy: opened }])
  expect(wanted.queues.map(({ settings }) => settings.attributes)).toEqual([
    { SqsManagedSseEnabled: 'true' },
    { KmsMasterKeyId: 'k' },
  ])
})

test('a dead-letter queue that is missing is left out, and what could not be read stays as it is', async () => {
  const target = `arn:aws:sqs:${PLACE}:gone`
  const queues = [
    queue({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn: target, maxReceiveCount: '3' }) }),
    queue(
      { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: JOBS, maxReceiveCount: '3' }) },
      `${JOBS}-2`,
    ),
    { arn: `${JOBS}-3`, attributes: undefined, tags: undefined },
  ]
  const subscriptions = [
    subscription({ attributes: { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: target }) } }),
  ]
  const { wanted } = await importSns(source({ queues, subscriptions }), here())
  expect(wanted.queues.map(({ settings }) => settings.redrivePolicy)).toEqual([
    null,
    { deadLetterTargetArn: JOBS, maxReceiveCount: 3 },
    undefined,
  ])
  expect(wanted.queues[2]?.settings).toEqual({})
  expect(wanted.topics[0]?.subscriptions[0]?.settings.redrivePolicy).toBe(null)
  expect((await lossesOf({ queues, subscriptions })).slice(0, 2)).toEqual([
    `messages: the dead-letter queue ${target} was not found, so that messages stay until they expire [${JOBS}]`,
    `messages: its dead-letter queue ${target} was not found, so that failed messages are discarded [https https://crm.example.com/in of orders]`,
  ])
})

test('an attribute of a queue that is not known is left out, whatever its name', async () => {
  const queues = [queue({ NoSuchAttribute: 'x', constructor: 'x' })]
  expect((await lossesOf({ queues })).filter((text) => text.includes('not known here'))).toEqual([
    `details: attribute NoSuchAttribute, which is not known here [${JOBS}]`,
    `details: attribute constructor, which is not known here [${JOBS}]`,
  ])
})

test('curves of SNS and of here are counted in pairs', () => {
  const http = { defaultHealthyRetryPolicy: { minDelayTarget: 2, maxDelayTarget: 2, numRetries: 2 } }
  const EffectiveDeliveryPolicy = JSON.stringify({
    healthyRetryPolicy: { ...http.defaultHealthyRetryPolicy, numRetries: 1 },
  })
  const pairs = curvesOf(
    source({
      topics: [topic({ DeliveryPolicy: JSON.stringify({ http }) })],
      subscriptions: [
        subscription(),
        subscription({ endpoint: 'https://b.example' }),
        subscription({ endpoint: 'https://c.example', attributes: { EffectiveDeliveryPolicy } }),
        subscription({ protocol: 'sqs', endpoint: JOBS }),
      ],
    }),
  )
  expect(pairs).toEqual([
    { subscriptions: 2, sns: [2, 4], fantail: [2, 4] },
    { subscriptions: 1, sns: [2], fantail: [2, 4] },
  ])
})
