/** Text messages to providers on loopback: the requests that they get, and how Fantail reads their answers. */
import type { AttemptResult, Message, StatusLog, SubscriptionRecord } from '@fantail/contracts'
import { onRawRequest, type Receiver, type Reply, startRawServer, startReceiver } from '@fantail/test-kit'
import { afterEach, expect, test, vi } from 'vitest'
import { compileEnvelope } from '../envelope/envelope.ts'
import { compileTarget } from '../envelope/target.ts'
import { createTestSender } from '../http/http-sender.fixture.ts'
import type { SmsResult, SmsSettings } from '../sms/sms-settings.ts'
import { createTemplateProvider } from '../sms/template-provider.ts'
import { createTwilioProvider } from '../sms/twilio-provider.ts'
import { DamagedDataError } from './attempter.ts'
import { SmsAttempter } from './sms-attempter.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:alarms'
const NUMBER = '+15550100'
const TWILIO = { accountSid: 'AC0123456789abcdef', authToken: 'twilio-token' }
const opened: { close(): unknown }[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function startProvider(reply: Reply = {}): Promise<Receiver> {
  const receiver = await startReceiver()
  receiver.respond(() => true, reply)
  opened.push(receiver)
  return receiver
}

interface Sending {
  number?: string
  displayName?: string
  attributes?: Record<string, string>
  message?: Partial<Message>
}

/** An attempter whose state is in memory. It refuses private addresses, as for callers of the API. */
function attempterFor(smsUrl: string, given: SmsSettings = {}) {
  const sender = createTestSender({ allowPrivate: false, timeoutMs: 10_000 })
  opened.push({ close: () => sender.close(0) })
  const state = {
    ...{ outcome: 'reserved' as 'reserved' | 'spent', senderId: '', smsType: '', reservedUsd: [0] },
    statusLog: undefined as StatusLog | undefined,
    damage: undefined as Error | undefined,
  }
  const optedOut = new Set<string>()
  const refunds: number[] = []
  const results: SmsResult[] = []
  const settings = {
    ...{ smsSender: 'Fantail', smsCountries: [{ prefix: '+1', priceUsd: 0.01 }], attemptTimeoutMs: 10_000 },
    ...given,
  }
  const provider = settings.smsTwilio
    ? createTwilioProvider({ ...settings, smsUrl, smsTwilio: settings.smsTwilio })
    : createTemplateProvider({ ...settings, smsUrl })
  const attempter = new SmsAttempter(provider, settings, {
    sender,
    itemIdOf: (_, delivery) => `item-${delivery.toString('hex')}`,
    sms: {
      reserve: async ({ number, costUsd }) => {
        if (state.damage) throw state.damage
        const outcome = optedOut.has(number) ? 'optedOut' : state.outcome
        if (outcome === 'reserved') state.reservedUsd.push(costUsd)
        const spend = { day: '', month: '', costMicros: Math.round(costUsd * 1_000_000) }
        return { ...state, outcome, spend }
      },
      defaults: async () => state,
      refund: async ({ costMicros }) => void refunds.push(costMicros),
      noteOptOut: async (number) => void optedOut.add(number),
      onResult: (smsResult) => void results.push(smsResult),
    },
  })
  const send = (sending: Sending = {}) =>
    new Promise<AttemptResult>((resolve) => attempter.attempt(attemptOf(sending), resolve))
  return { attempter, send, state, optedOut, refunds, results }
}

function attemptOf({ number = NUMBER, displayName = '', attributes = {}, message = {} }: Sending) {
  const record = {
    id: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
    arn: `${TOPIC}:0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21`,
    topicArn: TOPIC,
    protocol: 'sms',
    endpoint: number,
    rawMessageDelivery: false,
  } as SubscriptionRecord
  const policy = { requestPolicy: { headerContentType: 'text/plain' } }
  const given = Object.entries(attributes).map(([name, value]) => [
    `AWS.SNS.SMS.${name}`,
    { type: 'String', value },
  ])
  return {
    target: compileTarget(record, policy as Parameters<typeof compileTarget>[1], { displayName }),
    envelope: compileEnvelope({
      messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e22',
      topicArn: TOPIC,
      publishedAt: 1_790_000_000_000,
      message: 'hello',
      attributes: Object.fromEntries(given),
      ...message,
    }),
    delivery: Buffer.from('01', 'hex'),
  }
}

test('a provider gets one request per message, also at a private address, and its answer is the result', async () => {
  const { url, requests } = await startProvider({ status: 202, body: '{"id":"m-1"}' })
  const { send, refunds, results, state } = attempterFor(`${url}/sms`)
  expect(await send()).toMatchObject({
    kind: 'response',
    statusCode: 202,
    resultClass: 'delivered',
    text: '202 {"id":"m-1"}',
  })
  expect(requests).toMatchObject([
    {
      method: 'POST',
      path: '/sms',
      headers: { 'content-type': 'application/json', 'user-agent': 'Fantail' },
    },
  ])
  expect(JSON.parse(requests[0]?.text ?? '')).toEqual({
    to: NUMBER,
    from: 'Fantail',
    text: 'hello',
    id: 'item-01',
  })
  expect([results, refunds, state.reservedUsd]).toEqual([['delivered'], [], [0, 0.01]])
})

test('the template’s placeholders are escaped as its content type wants, so that a text adds no member', async () => {
  const { url, requests } = await startProvider()
  const text = '","to":"+19","{number}":"a&b=c\n€'
  const json = attempterFor(url, {
    smsBody: '{"m":"{message}","n":"{number}","t":"{type}"}',
    smsMethod: 'PUT',
  })
  const form = attempterFor(url, {
    smsHeaders: { 'Content-Type': 'application/x-www-form-urlencoded', authorization: 'Bearer s' },
    smsBody: 'm={message}&n={number}&s={sender}&i={id}',
  })
  await json.send({ message: { message: text } })
  await form.send({ message: { message: text } })
  expect(JSON.parse(requests[0]?.text ?? '')).toEqual({ m: text, n: NUMBER, t: 'Promotional' })
  expect(Object.fromEntries(new URLSearchParams(requests[1]?.text))).toEqual({
    m: text,
    n: NUMBER,
    s: 'Fantail',
    i: 'item-01',
  })
  expect([requests[0]?.method, requests[1]?.headers.authorization]).toEqual(['PUT', 'Bearer s'])
})

test('[385] the topic’s display name stands before the text, in capitals', async () => {
  const { url, requests } = await startProvider()
  await attempterFor(url).send({ displayName: 'Alarms' })
  expect(JSON.parse(requests[0]?.text ?? '')).toMatchObject({ text: 'ALARMS> hello' })
})

test('message attributes name sender and type, and a sender that SNS refuses is not used', async () => {
  const { url, requests } = await startProvider()
  const { send, state } = attempterFor(url, {
    smsBody: '{"n":"{number}","m":"{message}","s":"{sender} {type}"}',
  })
  const senderOf = async (attributes: Record<string, string>) => {
    await send({ attributes })
    return JSON.parse(requests.at(-1)?.text ?? '').s
  }
  expect(await senderOf({ SenderID: 'My-Shop', SMSType: 'Transactional' })).toBe('My-Shop Transactional')
  expect(await senderOf({ SenderID: '123456' })).toBe('Fantail Promotional')
  Object.assign(state, { senderId: 'Default', smsType: 'Transactional' })
  expect(await senderOf({})).toBe('Default Transactional')
})

test('the text of a JSON message is the one for sms', async () => {
  const { url, requests } = await startProvider()
  const message = JSON.stringify({ default: 'long', sms: 'short' })
  await attempterFor(url).send({ message: { message, structure: 'json' } })
  expect(JSON.parse(requests[0]?.text ?? '')).toMatchObject({ text: 'short' })
})

test.each<[what: string, sending: Sending, error: string, detail: string]>([
  [
    'a number of another country',
    { number: '+4915550100' },
    'number_refused',
    'FANTAIL_SMS_COUNTRIES does not name its country',
  ],
  [
    '[384] a text of more than 1,600 characters',
    { message: { message: 'a'.repeat(1_601) } },
    'text_refused',
    'the text has more than 1600 characters',
  ],
  ['an empty text', { message: { message: ' \n' } }, 'text_refused', 'the text is empty'],
  [
    'a message above MaxPrice',
    { attributes: { MaxPrice: '0.015' }, message: { message: 'a'.repeat(161) } },
    'spend_exceeded',
    'This delivery would exceed max price',
  ],
])('%s fails permanently, and nothing is sent or reserved', async (_, sending, error, detail) => {
  const { url, requests } = await startProvider()
  const { send, state, results } = attempterFor(url)
  expect(await send(sending)).toMatchObject({ kind: 'failure', error, detail, permanent: true })
  expect([requests.length, state.reservedUsd, results]).toEqual([0, [0], ['refused']])
})

test('a message past the spend fails permanently, and nothing is sent', async () => {
  const { url, requests } = await startProvider()
  const { send, state } = attempterFor(url)
  state.outcome = 'spent'
  expect(await send()).toMatchObject({
    error: 'spend_exceeded',
    detail: 'No quota left for account',
    permanent: true,
  })
  expect(requests).toEqual([])
})

test.each<[status: number, result: object, smsResult: SmsResult]>([
  [200, { kind: 'response', resultClass: 'delivered' }, 'delivered'],
  [400, { kind: 'response', statusCode: 400, resultClass: 'permanent' }, 'permanent'],
  [401, { kind: 'misconfigured' }, 'misconfigured'],
  [402, { kind: 'misconfigured' }, 'misconfigured'],
  [403, { kind: 'misconfigured' }, 'misconfigured'],
  [410, { kind: 'failure', error: 'opted_out', permanent: true }, 'refused'],
  [429, { kind: 'response', resultClass: 'retry', retryAfterSeconds: 7 }, 'transient'],
  [500, { kind: 'response', resultClass: 'retry' }, 'transient'],
  [504, { kind: 'failure', error: 'outcome_unknown', permanent: true }, 'unknown'],
])('status %i means what it usually does, or what the operator says', async (status, result, smsResult) => {
  const { url, requests } = await startProvider({ status, headers: { 'retry-after': '7' } })
  const smsStatuses = { 402: 'misconfigured', 410: 'optedOut', 504: 'unknown' } as const
  const { send, results, refunds, optedOut } = attempterFor(url, { smsStatuses })
  expect(await send()).toMatchObject(result)
  expect([results, requests.length, optedOut.has(NUMBER)]).toEqual([[smsResult], 1, status === 410])
  // The cost of a message that may have been sent is not given back.
  expect(refunds).toEqual(smsResult === 'delivered' || smsResult === 'unknown' ? [] : [10_000])
})

test('damaged data of text messages counts no attempt, and a Redis that fails counts one', async () => {
  const { url, requests } = await startProvider()
  const { attempter, send, state, results } = attempterFor(url)
  state.damage = new DamagedDataError('the amount')
  const credential = attempter.credentialOf()
  expect(await send()).toMatchObject({ kind: 'misconfigured', credential, detail: 'the amount' })
  state.damage = new Error('no answer')
  expect(await send()).toMatchObject({ kind: 'failure', error: 'storage' })
  expect([results, requests.length]).toEqual([['misconfigured', 'transient'], 0])
})

test('a provider that takes the message and never answers leaves its outcome unknown, and the spend stays', async () => {
  const { url, requests } = await startProvider({ hang: 'beforeHeaders' })
  const { send, refunds } = attempterFor(url, { attemptTimeoutMs: 1_500 })
  expect(await send()).toMatchObject({ kind: 'failure', error: 'outcome_unknown', permanent: true })
  expect([requests.length, refunds]).toEqual([1, []])
})

test('a connection that ends after the request leaves the outcome unknown, and the request is not repeated', async () => {
  let requests = 0
  const server = await startRawServer((socket) => {
    onRawRequest(socket, () => {
      requests++
      // The first answer leaves its connection open. The second connection is closed after the request, which must not
      // be sent again.
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      else socket.destroy()
    })
  })
  opened.push(server)
  const { send, refunds } = attempterFor(server.url)
  expect((await send()).kind).toBe('response')
  expect(await send()).toMatchObject({ kind: 'failure', error: 'outcome_unknown' })
  expect([requests, refunds]).toEqual([2, []])
})

test('a message past the limit of those under way is not sent, costs nothing, and names the limit', async () => {
  const { url, requests } = await startProvider({ status: 202 })
  const { send, state } = attempterFor(url)
  // On a busy machine the provider could otherwise count as silent, which has a lower limit.
  vi.useFakeTimers({ toFake: ['performance'] })
  const all = await Promise.all(Array.from({ length: 501 }, () => send()))
  expect(all.filter(({ kind }) => kind === 'failure')).toMatchObject([
    { error: 'service_limit', detail: '500 messages are under way', permanent: false },
  ])
  expect([requests.length, state.reservedUsd.length]).toEqual([500, 501])
})

test('a provider that cannot be reached is tried again, and the spend is given back', async () => {
  const { url, close } = await startReceiver()
  await close()
  const { send, refunds, results } = attempterFor(url)
  expect(await send()).toMatchObject({ kind: 'failure', error: 'connection_refused', permanent: false })
  expect([refunds, results]).toEqual([[10_000], ['transient']])
})

test('Twilio gets its form with the login, and the sender is a number or a messaging service', async () => {
  const { url, requests } = await startProvider({ status: 201, body: '{"sid":"SM1"}' })
  const service = `MG${'0'.repeat(32)}`
  const { send, attempter } = attempterFor(url, { smsTwilio: TWILIO, smsSender: service })
  expect(await send()).toMatchObject({ statusCode: 201, resultClass: 'delivered', text: '201 SM1' })
  await send({ attributes: { SenderID: 'Shop' } })
  const forms = requests.map(({ text }) => Object.fromEntries(new URLSearchParams(text)))
  expect(forms).toEqual([
    { To: NUMBER, MessagingServiceSid: service, Body: 'hello' },
    { To: NUMBER, From: 'Shop', Body: 'hello' },
  ])
  const login = Buffer.from(`${TWILIO.accountSid}:${TWILIO.authToken}`).toString('base64')
  expect(requests[0]).toMatchObject({
    path: `/2010-04-01/Accounts/${TWILIO.accountSid}/Messages.json`,
    headers: { authorization: `Basic ${login}`, 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(attempter.credentialOf()).toBe(`twilio:${TWILIO.accountSid}`)
})

test.each<[status: number, code: number | undefined, result: object]>([
  [400, undefined, { resultClass: 'retry', text: '400 no' }],
  [403, undefined, { resultClass: 'retry' }],
  [400, 21211, { resultClass: 'permanent', text: '400 21211 no' }],
  [400, 21614, { resultClass: 'permanent' }],
  [403, 21608, { resultClass: 'permanent' }],
  [429, 20429, { resultClass: 'retry', retryAfterSeconds: 7 }],
  [503, 20503, { resultClass: 'retry' }],
  [401, 20003, { kind: 'misconfigured', credential: `twilio:${TWILIO.accountSid}` }],
  [403, 20003, { kind: 'misconfigured' }],
])('[387] Twilio’s %i with code %s is judged by its code', async (status, code, result) => {
  const { url } = await startProvider({
    status,
    headers: { 'retry-after': '7' },
    body: JSON.stringify({ code, message: 'no', status }),
  })
  const ended = await attempterFor(url, { smsTwilio: TWILIO }).send()
  expect(ended).toMatchObject(result)
  expect(JSON.stringify(ended)).not.toContain(TWILIO.authToken)
})

test('[386] Twilio’s 21610 opts the number out, so that nothing is sent to it again', async () => {
  const { url, requests } = await startProvider({
    status: 400,
    body: '{"code":21610,"message":"unsubscribed"}',
  })
  const { send, optedOut, refunds } = attempterFor(url, { smsTwilio: TWILIO })
  const result = { error: 'opted_out', detail: 'Phone number is opted out', permanent: true }
  expect(await send()).toMatchObject(result)
  expect(await send()).toMatchObject(result)
  expect([[...optedOut], requests.length, refunds]).toEqual([[NUMBER], 1, [10_000]])
})

test('a result says what a delivery status log shows, if attributes ask for one', async () => {
  const { url } = await startProvider()
  const { send, state, optedOut } = attempterFor(url)
  expect(await send()).not.toHaveProperty('textMessage')
  state.statusLog = { share: 0.5, failures: true }
  state.smsType = 'Transactional'
  const textMessage = { statusLog: state.statusLog, parts: 2, priceUsd: 0.02, type: 'Transactional' }
  expect(await send({ message: { message: 'x'.repeat(161) } })).toMatchObject({
    kind: 'response',
    textMessage,
  })
  optedOut.add(NUMBER)
  expect(await send({ attributes: { SMSType: 'Promotional' } })).toMatchObject({
    error: 'opted_out',
    textMessage: { ...textMessage, parts: 1, priceUsd: 0.01, type: 'Promotional' },
  })
  expect(await send({ number: '+4915550100' })).toMatchObject({
    error: 'number_refused',
    textMessage: { ...textMessage, parts: 1, priceUsd: 0 },
  })
})
