import { createSecretKey } from 'node:crypto'
import { createMessageId, type Message, PROTOCOLS, type SubscriptionRecord } from '@fantail/contracts'
import { effectivePolicy } from '@fantail/policy'
import { describe, expect, test } from 'vitest'
import { renderSnsEvent } from '../functions/sns-event.ts'
import { renderStreamRecord } from '../streams/stream-record.ts'
import { type HeaderOptions, renderHeaders, renderRequest } from './attempt-request.ts'
import { compileEnvelope, queueBody, renderBody, textForProtocol } from './envelope.ts'
import { isoOf } from './iso-time.ts'
import { compileTarget, type EndpointTarget, redactEndpoint, targetOfLetters } from './target.ts'
import { isUnsubscribeToken } from './unsubscribe-link.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const SUBSCRIPTION_ID = '5f8a6f0e-8a4e-4d3f-9d53-0f6c0a5f1f11'
const ARN = `${TOPIC}:${SUBSCRIPTION_ID}`
const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:q'
const PUBLISHED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

function message(set: Partial<Message> = {}): Message {
  return {
    messageId: createMessageId(PUBLISHED_AT),
    topicArn: TOPIC,
    publishedAt: PUBLISHED_AT,
    message: 'hello',
    publicUrl: 'https://sns.example.com/',
    ...set,
  }
}

function target(set: Partial<SubscriptionRecord> = {}, contentType?: string) {
  const subscription: SubscriptionRecord = {
    id: SUBSCRIPTION_ID,
    arn: ARN,
    topicArn: TOPIC,
    protocol: 'https',
    endpoint: 'https://hooks.example.com/in?x=1',
    status: 'active',
    rawMessageDelivery: false,
    deliveryPolicy: null,
    redrivePolicy: null,
    maxInFlight: 32,
    confirmation: 'none',
    token: null,
    tokenExpiresAt: null,
    unsubscribed: false,
    createdAt: 0,
    bit: 0,
    attributes: {},
    ...set,
  }
  const deliveryPolicy = contentType ? { requestPolicy: { headerContentType: contentType } } : null
  const topic = { deliveryPolicy, disableSubscriptionOverrides: false }
  return compileTarget(subscription, effectivePolicy(topic, subscription))
}

function rendered(of: Message, to = target()): Record<string, unknown> {
  return JSON.parse(renderBody(compileEnvelope(of), to).toString()) as Record<string, unknown>
}

function headersOf(
  of: Message,
  to = target(),
  options: HeaderOptions = {},
): Record<string, string | undefined> {
  const flat = renderHeaders(compileEnvelope(of), to, options)
  return Object.fromEntries(
    flat.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), flat[i + 1]]] : [])),
  )
}

test('[415] a resent delivery says so in its header, envelope, event or record, and is else the same', () => {
  const of = message({ attributes: { color: { type: 'String', value: 'red' } } })
  const [plain, resent] = [Buffer.alloc(16), Buffer.alloc(22)]
  const sent = (delivery: Buffer, to = target()) => {
    const request = renderRequest(compileEnvelope(of), to, { vault: undefined, clock: () => 0, delivery })
    if ('kind' in request) throw new Error('no request')
    return { body: String(request.body), isMarked: request.headers.includes('x-fantail-replayed') }
  }
  const [first, again] = [sent(plain), sent(resent)]
  expect([first.isMarked, again.isMarked]).toEqual([false, true])
  expect(JSON.parse(again.body)).toEqual({ ...JSON.parse(first.body), Replayed: true })
  expect(sent(resent, target({ rawMessageDelivery: true }))).toEqual({ body: 'hello', isMarked: true })
  const queued = (delivery: Buffer) =>
    JSON.parse(queueBody(compileEnvelope(of), target(), QUEUE, delivery).body)
  expect(queued(resent)).toEqual({ ...queued(plain), Replayed: true })
  const event = (delivery: Buffer) =>
    JSON.parse(renderSnsEvent(compileEnvelope(of), target(), delivery)).Records[0].Sns
  expect(event(resent)).toEqual({ ...event(plain), Replayed: true })
  const record = (delivery: Buffer) =>
    JSON.parse(String(renderStreamRecord(compileEnvelope(of), target(), delivery)))
  expect(record(resent)).toEqual({ ...record(plain), Replayed: true })
})

const AWKWARD = 'quote " slash \\ line\nend tab\t null\u0000 é € 😀 \u2028 </script>'

describe('the link to unsubscribe', () => {
  const key = createSecretKey(Buffer.alloc(32, 'k'))
  const of = message()
  const renderings: [string, (to: EndpointTarget) => Record<string, unknown>][] = [
    ['an envelope', (to) => JSON.parse(renderBody(compileEnvelope(of, { key }), to).toString())],
    ['a queue’s message', (to) => JSON.parse(queueBody(compileEnvelope(of, { key }), to, QUEUE).body)],
    [
      'a stream’s record',
      (to) => JSON.parse(renderStreamRecord(compileEnvelope(of, { key }), to).toString()),
    ],
    [
      'a function’s event',
      (to) => {
        const { Sns } = JSON.parse(renderSnsEvent(compileEnvelope(of, { key }), to)).Records[0]
        return { ...Sns, UnsubscribeURL: Sns.UnsubscribeUrl }
      },
    ],
  ]

  test.each(renderings)('in %s has a token that proves this one delivery’s subscription', (_, render) => {
    const link = new URL(String(render(target()).UnsubscribeURL))
    const { SubscriptionArn = '', Token = '' } = Object.fromEntries(link.searchParams)
    expect(SubscriptionArn).toBe(ARN)
    expect(isUnsubscribeToken(Token, ARN, key)).toBe(true)
    expect(isUnsubscribeToken(Token, `${ARN}0`, key)).toBe(false)
    expect(isUnsubscribeToken(Token, ARN, createSecretKey(Buffer.alloc(32, 'j')))).toBe(false)
  })

  test('in a dead letter proves nothing', () => {
    const body = JSON.parse(queueBody(compileEnvelope(of, { key }), targetOfLetters(target()), QUEUE).body)
    expect(body.UnsubscribeURL).toBe(`https://sns.example.com/?Action=Unsubscribe&SubscriptionArn=${ARN}`)
  })
})

describe('notification', () => {
  test('has exactly the keys of SNS, in their order, with attributes', () => {
    const attributes = {
      size: { type: 'Number', value: '3' },
      blob: { type: 'Binary', value: 'AgME' },
      'k"y': { type: 'String.label', value: AWKWARD },
    }
    const of = message({ subject: 'A "subject"', message: AWKWARD, attributes })
    const got = rendered(of)
    expect(Object.keys(got)).toEqual([
      'Type',
      'MessageId',
      'TopicArn',
      'Subject',
      'Message',
      'Timestamp',
      'UnsubscribeURL',
      'MessageAttributes',
    ])
    expect(got).toEqual({
      Type: 'Notification',
      MessageId: of.messageId,
      TopicArn: TOPIC,
      Subject: 'A "subject"',
      Message: AWKWARD,
      Timestamp: '2026-01-02T03:04:05.678Z',
      UnsubscribeURL: `https://sns.example.com/?Action=Unsubscribe&SubscriptionArn=${ARN}`,
      MessageAttributes: {
        size: { Type: 'Number', Value: '3' },
        blob: { Type: 'Binary', Value: 'AgME' },
        'k"y': { Type: 'String.label', Value: AWKWARD },
      },
    })
  })

  test('[50] looks like a recorded one, byte for byte', () => {
    const of = message({ messageId: 'id-1', attributes: { n: { type: 'Number', value: '3' } } })
    expect(renderBody(compileEnvelope(of), target()).toString()).toBe(
      [
        '{',
        '  "Type" : "Notification",',
        '  "MessageId" : "id-1",',
        `  "TopicArn" : "${TOPIC}",`,
        '  "Message" : "hello",',
        '  "Timestamp" : "2026-01-02T03:04:05.678Z",',
        `  "UnsubscribeURL" : "https://sns.example.com/?Action=Unsubscribe&SubscriptionArn=${ARN}",`,
        '  "MessageAttributes" : {',
        '    "n" : {"Type":"Number","Value":"3"}',
        '  }',
        '}',
      ].join('\n'),
    )
  })

  test('[47][48] has no Subject and no MessageAttributes where the message has none', () => {
    expect(Object.keys(rendered(message()))).toEqual([
      'Type',
      'MessageId',
      'TopicArn',
      'Message',
      'Timestamp',
      'UnsubscribeURL',
    ])
    expect(rendered(message({ attributes: {} }))).not.toHaveProperty('MessageAttributes')
  })

  test('names each subscription in its own link, from one envelope', () => {
    const envelope = compileEnvelope(message())
    const links = ['a', 'b'].map((name) => {
      const body = renderBody(envelope, target({ arn: `${TOPIC}:${name}` })).toString()
      return (JSON.parse(body) as { UnsubscribeURL: string }).UnsubscribeURL.split(':').at(-1)
    })
    expect(links).toEqual(['a', 'b'])
  })

  test('takes the origin of its links from the message, then from the process', () => {
    const link = (of: Message, publicUrl?: string) => {
      const body = renderBody(compileEnvelope(of, { publicUrl }), target()).toString()
      return new URL((JSON.parse(body) as { UnsubscribeURL: string }).UnsubscribeURL).origin
    }
    expect(link(message(), 'http://other:1')).toBe('https://sns.example.com')
    expect(link(message({ publicUrl: undefined }), 'http://other:1')).toBe('http://other:1')
    expect(link(message({ publicUrl: undefined }))).toBe('http://localhost:4100')
  })

  test('[46] raw is the text byte for byte, without attributes', () => {
    const of = message({ message: AWKWARD, attributes: { n: { type: 'Number', value: '3' } } })
    const body = renderBody(compileEnvelope(of), target({ rawMessageDelivery: true }))
    expect(body.equals(Buffer.from(AWKWARD))).toBe(true)
  })
})

describe('structure json', () => {
  const texts = { default: 'for all', https: 'for https', http: 7, sqs: 'for queues', other: {} }
  const of = message({ structure: 'json', message: JSON.stringify(texts) })

  test.each([
    ['https', 'for https'],
    ['http', 'for all'],
    ['sqs', 'for queues'],
  ] as const)('%s gets its own text or the default', (protocol, expected) => {
    const envelope = compileEnvelope(of)
    expect(JSON.parse(renderBody(envelope, target({ protocol })).toString())).toHaveProperty(
      'Message',
      expected,
    )
    expect(renderBody(envelope, target({ protocol, rawMessageDelivery: true })).toString()).toBe(expected)
  })

  test('[312] the text of a protocol is for that protocol alone, and others get the default', () => {
    for (const own of PROTOCOLS) {
      const envelope = {
        structure: 'json',
        message: JSON.stringify({ default: 'for all', [own]: '' }),
      } as const
      const got = PROTOCOLS.filter((protocol) => textForProtocol(message(envelope), protocol) === '')
      expect(got).toEqual([own])
    }
  })

  test('[314] keys that no protocol has, and values that are no text, change nothing', () => {
    for (const odd of [{ fax: 'x', GCM: 'y' }, { http: 7 }, { http: null }, { http: { default: 'x' } }]) {
      const envelope = { structure: 'json', message: JSON.stringify({ default: 'for all', ...odd }) } as const
      expect(textForProtocol(message(envelope), 'http')).toBe('for all')
    }
  })

  test('a text that is no such object goes out whole', () => {
    for (const text of ['not json', '"text"', 'null', '[]', '{"default":1}']) {
      expect(rendered(message({ structure: 'json', message: text })).Message).toBe(text)
    }
  })
})

describe('confirmations', () => {
  const token = 'ab'.repeat(144)

  test('for a subscription have SNS’s keys, text and link, even with raw delivery', () => {
    const of = message({ kind: 'SubscriptionConfirmation', token, message: '' })
    const got = rendered(of, target({ rawMessageDelivery: true }))
    expect(Object.entries(got)).toEqual([
      ['Type', 'SubscriptionConfirmation'],
      ['MessageId', of.messageId],
      ['Token', token],
      ['TopicArn', TOPIC],
      [
        'Message',
        `You have chosen to subscribe to the topic ${TOPIC}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`,
      ],
      [
        'SubscribeURL',
        `https://sns.example.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=${token}`,
      ],
      ['Timestamp', '2026-01-02T03:04:05.678Z'],
    ])
  })

  test('for an unsubscription name the subscription', () => {
    const got = rendered(message({ kind: 'UnsubscribeConfirmation', token, message: '' }))
    expect(Object.keys(got)).toEqual([
      'Type',
      'MessageId',
      'Token',
      'TopicArn',
      'Message',
      'SubscribeURL',
      'Timestamp',
    ])
    expect(got.Message).toBe(
      `You have chosen to deactivate subscription ${ARN}.\nTo cancel this operation and restore the subscription, visit the SubscribeURL included in this message.`,
    )
  })
})

describe('headers', () => {
  test('[40][43][44] name a notification', () => {
    const of = message()
    expect(headersOf(of)).toEqual({
      'x-amz-sns-message-type': 'Notification',
      'x-amz-sns-message-id': of.messageId,
      'x-amz-sns-topic-arn': TOPIC,
      'x-amz-sns-subscription-arn': ARN,
      'content-type': 'text/plain; charset=UTF-8',
      'user-agent': 'Amazon Simple Notification Service Agent',
      'accept-encoding': 'gzip,deflate',
    })
  })

  test('[42][44] say rawdelivery in a raw notification, whose content type the policy decides', () => {
    const headers = headersOf(message(), target({ rawMessageDelivery: true }, 'text/csv'))
    expect(headers['x-amz-sns-rawdelivery']).toBe('true')
    expect(headers['content-type']).toBe('text/csv')
  })

  test('name the event type of a raw notification, but no text that is no such name', () => {
    const name = 'x-fantail-event-type'
    const native = target({ rawMessageDelivery: true, origin: 'native' })
    const typed = (value: string) => message({ attributes: { eventType: { type: 'String', value } } })
    expect(headersOf(typed('order.paid'), native)[name]).toBe('order.paid')
    expect(headersOf(typed('paid\r\nx: y'), native)).not.toHaveProperty(name)
    expect(headersOf(message(), native)).not.toHaveProperty(name)
    // A subscription of SNS gets the headers of SNS alone.
    expect(headersOf(typed('order.paid'), target({ rawMessageDelivery: true }))).not.toHaveProperty(name)
  })

  test('name JSON for a native subscription, in envelopes and confirmations', () => {
    const to = target({ origin: 'native' })
    const kinds = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const
    const types = kinds.map((kind) => headersOf(message({ kind, token: 't' }), to)['content-type'])
    expect(types).toEqual(['application/json', 'application/json', 'application/json'])
    const chosen = target({ origin: 'native' }, 'text/plain')
    expect(headersOf(message(), chosen)['content-type']).toBe('text/plain')
  })

  test.each([
    ['{"a":1}', 'application/json'],
    [' [1,2]', 'application/json'],
    ['hello', 'text/plain; charset=UTF-8'],
    ['{"a":', 'text/plain; charset=UTF-8'],
    ['42', 'text/plain; charset=UTF-8'],
  ])('say for a native raw delivery what the body %j is', (text, contentType) => {
    const to = target({ origin: 'native', rawMessageDelivery: true })
    expect(headersOf(message({ message: text }), to)['content-type']).toBe(contentType)
    const chosen = target({ origin: 'native', rawMessageDelivery: true }, 'text/csv')
    expect(headersOf(message({ message: text }), chosen)['content-type']).toBe('text/csv')
    const bySns = target({ rawMessageDelivery: true })
    expect(headersOf(message({ message: text }), bySns)['content-type']).toBe('text/plain; charset=UTF-8')
  })

  test('have the configured user agent for native subscriptions, and always SNS’s own for the others', () => {
    const agents = (to: EndpointTarget) => {
      const headers = headersOf(message(), to, { userAgent: 'Example-Hooks/1.0' })
      const traced = headersOf(message(), to, { userAgent: 'Example-Hooks/1.0', traceparent: 't' })
      return [headers['user-agent'], traced['user-agent']]
    }
    expect(agents(target({ origin: 'native' }))).toEqual(['Example-Hooks/1.0', 'Example-Hooks/1.0'])
    expect(new Set(agents(target()))).toEqual(new Set(['Amazon Simple Notification Service Agent']))
    expect(headersOf(message(), target({ origin: 'native' }))['user-agent']).toMatch(/^Amazon Simple/)
  })

  test('[41][44][45] name plain text for every confirmation, and the subscription only for an unsubscription', () => {
    const to = target({ rawMessageDelivery: true }, 'application/json')
    const subscribing = headersOf(message({ kind: 'SubscriptionConfirmation', token: 't' }), to)
    expect(subscribing['x-amz-sns-message-type']).toBe('SubscriptionConfirmation')
    expect(subscribing['content-type']).toBe('text/plain; charset=UTF-8')
    expect(subscribing).not.toHaveProperty('x-amz-sns-subscription-arn')
    expect(subscribing).not.toHaveProperty('x-amz-sns-rawdelivery')
    const leaving = headersOf(message({ kind: 'UnsubscribeConfirmation', token: 't' }), to)
    expect(leaving['x-amz-sns-subscription-arn']).toBe(ARN)
    expect(leaving['content-type']).toBe('text/plain; charset=UTF-8')
  })

  test('pass a trace on, the attempt before the publisher', () => {
    expect(headersOf(message())).not.toHaveProperty('traceparent')
    expect(headersOf(message({ traceparent: '00-a' })).traceparent).toBe('00-a')
    expect(headersOf(message({ traceparent: '00-a' }), target(), { traceparent: '00-b' }).traceparent).toBe(
      '00-b',
    )
  })
})

test('a queue gets the envelope without attributes, or the raw text with them', () => {
  const attributes = { n: { type: 'Number', value: '3' } }
  const envelope = compileEnvelope(message({ attributes }))
  const whole = queueBody(envelope, target(), QUEUE)
  expect(whole.body).toBe(renderBody(envelope, target()).toString())
  expect(whole.attributes).toEqual({})
  const raw = target({ rawMessageDelivery: true })
  expect(queueBody(envelope, raw, QUEUE)).toEqual({ body: 'hello', attributes })
})

test('an endpoint is shown without its credentials', () => {
  expect(redactEndpoint('https://user:p%40ss@host.example/a@b?c=d@e')).toBe('https://host.example/a@b?c=d@e')
  expect(redactEndpoint('http://host.example/a@b')).toBe('http://host.example/a@b')
  expect(redactEndpoint('arn:aws:sqs:us-east-1:000000000000:q')).toBe('arn:aws:sqs:us-east-1:000000000000:q')
})

test('[135] the trace of X-Ray goes to queues beside the body', () => {
  const envelope = compileEnvelope(message({ traceHeader: 'Root=1-5759e988-bd862e3fe1be46a994272793' }))
  expect(queueBody(envelope, target(), QUEUE).traceHeader).toBe('Root=1-5759e988-bd862e3fe1be46a994272793')
})

test.each([
  { topic: 'orders.fifo', queue: 'q.fifo', told: { groupId: 'g', deduplicationId: 'd' } },
  { topic: 'orders.fifo', queue: 'q', told: {} },
  { topic: 'orders', queue: 'q', told: { groupId: 'g' } },
  { topic: 'orders', queue: 'q.fifo', told: { groupId: 'g', deduplicationId: 'd' } },
])('a message of $topic tells $queue $told', ({ topic, queue, told }) => {
  const topicArn = `arn:aws:sns:us-east-1:000000000000:${topic}`
  const envelope = compileEnvelope(message({ topicArn, groupId: 'g', deduplicationId: 'd' }))
  const { body, attributes, ...rest } = queueBody(
    envelope,
    target(),
    `arn:aws:sqs:us-east-1:000000000000:${queue}`,
  )
  expect(rest).toEqual(told)
})

test('a queue is asked to confirm by the whole document, also where it is to get bare texts', () => {
  const envelope = compileEnvelope(message({ kind: 'SubscriptionConfirmation', token: 'ab' }))
  const { body, attributes } = queueBody(envelope, target({ rawMessageDelivery: true }), QUEUE)
  expect(JSON.parse(body)).toMatchObject({ Type: 'SubscriptionConfirmation', Token: 'ab' })
  expect(attributes).toEqual({})
})

test('times within a second, across seconds and before 1970 read as those of Date', () => {
  const times = [
    0,
    1,
    999,
    1_000,
    PUBLISHED_AT,
    PUBLISHED_AT + 1,
    PUBLISHED_AT + 322,
    PUBLISHED_AT - 679,
    -1,
    -1_000,
  ]
  for (const ms of [...times, ...times.toReversed()]) expect(isoOf(ms)).toBe(new Date(ms).toISOString())
  expect(() => isoOf(Number.NaN)).toThrow(RangeError)
})
