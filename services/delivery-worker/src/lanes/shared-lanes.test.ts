/**
 * Direct messages for many targets in one lane. A target that hangs takes one slot, and the other targets get their
 * messages.
 */
import { ARN_DEFAULTS, directTopicArn, numbersArn } from '@fantail/contracts'
import { createHttpSender } from '@fantail/delivery'
import { startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { useFixture } from '../fixtures/worker.fixture.ts'

const HUNG = '+15550100'
const TOPIC_ARN = directTopicArn(numbersArn(ARN_DEFAULTS), 0)
const provider = await startReceiver()
const fixture = await useFixture()
afterAll(() => provider.close())

const protocolSettings = {
  smsUrl: `${provider.url}/send`,
  smsCountries: [{ prefix: '+1', priceUsd: 0 }],
  attemptTimeoutMs: 60_000,
}
const sentTo = (number: string) => provider.requests.filter(({ text }) => text.includes(number))

async function start() {
  const shared = {
    topicArn: TOPIC_ARN,
    protocol: 'sms' as const,
    endpoint: 'numbers',
    rawMessageDelivery: false,
  }
  await fixture.topics.create(TOPIC_ARN, {})
  await fixture.subscribe('numbers', shared)
  // The worker closes its sender.
  const sender = createHttpSender({ timeoutMs: 60_000, allowPrivate: true })
  await fixture.startWorker(sender, { protocolSettings })
}

const publish = (target: string, text = 'hello') => fixture.publish(text, { topicArn: TOPIC_ARN, target })

test('a number that hangs gets one message at a time, and the others of its lane get theirs', async () => {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  provider.respond(({ text }) => text.includes(HUNG), { until })
  await start()
  const hung = await Promise.all(Array.from({ length: 10 }, () => publish(HUNG)))
  await waitFor(() => sentTo(HUNG).length === 1, { what: 'the message that hangs' })
  const others = Array.from({ length: 100 }, (_, i) => `+1555020${String(i).padStart(3, '0')}`)
  await Promise.all(others.map((number) => publish(number)))
  await waitFor(() => others.every((number) => sentTo(number).length === 1), { what: 'the other numbers' })
  expect(sentTo(HUNG)).toHaveLength(1)
  release()
  await waitFor(() => sentTo(HUNG).length === hung.length, { what: 'the messages that waited' })
  const endpoints = async () =>
    (await Promise.all(hung.map((id) => fixture.outcomes.deliveries(id)))).map((rows) => rows?.[0]?.endpoint)
  await waitFor(async () => (await endpoints()).every((endpoint) => endpoint === HUNG), { what: 'their log' })
})

test('many messages for one number all arrive, one after the other', async () => {
  const number = '+15550300'
  await start()
  const texts = Array.from({ length: 40 }, (_, i) => `text-${i}.`)
  await Promise.all(texts.map((text) => publish(number, text)))
  const arrived = () => texts.filter((text) => sentTo(number).some((request) => request.text.includes(text)))
  await waitFor(() => arrived().length === texts.length, { what: 'all messages' })
  expect(sentTo(number)).toHaveLength(texts.length)
})
