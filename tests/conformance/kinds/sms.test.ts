/** Text messages through every service, to a provider that the test plays. */
import {
  GetSubscriptionAttributesCommand,
  OptInPhoneNumberCommand,
  PublishCommand,
  SetSMSAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../../harness/aws/aws-clients.ts'
import { useStack } from '../../harness/services/stack.ts'

const provider = await startReceiver()
afterAll(() => provider.close())
const stack = useStack({
  env: {
    FANTAIL_SMS_URL: `${provider.url}/send`,
    FANTAIL_SMS_HEADERS: '{"authorization":"Bearer s3cret-of-sms"}',
    FANTAIL_SMS_BODY: '{"to":"{number}","text":"{message}","from":"{sender}","type":"{type}","id":"{id}"}',
    FANTAIL_SMS_COUNTRIES: '+1=0.25,+44=0.0001',
    FANTAIL_SMS_MONTH_USD: '10',
    FANTAIL_ATTEMPT_TIMEOUT_MS: '3000',
  },
})
const aws = useAwsClients(stack)

interface Delivery {
  state: string
  reason: string | null
  attempts: number
  lastError: string | null
  endedAt: string | null
}

async function subscribe(name: string, Endpoint: string): Promise<string> {
  await stack().client.put(`/v1/topics/${name}`)
  await aws().createQueue(`${name}-dead`)
  const Attributes = { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(`${name}-dead`) }) }
  const command = new SubscribeCommand({ TopicArn: topicArn(name), Protocol: 'sms', Endpoint, Attributes })
  return (await aws().sns.send(command)).SubscriptionArn ?? ''
}

async function publish(name: string, MessageAttributes = {}): Promise<string> {
  const command = new PublishCommand({ TopicArn: topicArn(name), Message: `to ${name}`, MessageAttributes })
  return (await aws().sns.send(command)).MessageId ?? ''
}

function ended(messageId: string): Promise<Delivery> {
  return waitFor(async () => {
    const path = `/v1/messages/${messageId}/deliveries`
    const { deliveries } = (await stack().client.call<{ deliveries?: Delivery[] }>('GET', path)).body
    return deliveries?.[0]?.endedAt ? deliveries[0] : undefined
  })
}

const sentTo = (number: string) =>
  provider.requests
    .map(({ text }) => JSON.parse(text) as Record<string, string>)
    .filter(({ to }) => to === number)
const spent = async () =>
  (await stack().client.get<{ spentThisMonthUsd: number }>('/v1/sms')).spentThisMonthUsd

test('a message reaches its number once, with SNS’s attributes, and is paid for', async () => {
  await subscribe('notices', '+15550100')
  const attribute = (StringValue: string) => ({ DataType: 'String', StringValue })
  const messageId = await publish('notices', {
    'AWS.SNS.SMS.SenderID': attribute('Shop'),
    'AWS.SNS.SMS.SMSType': attribute('Transactional'),
  })
  expect(await ended(messageId)).toMatchObject({ state: 'delivered', attempts: 1 })
  const [message, ...more] = sentTo('+15550100')
  expect([message, more]).toMatchObject([{ text: 'to notices', from: 'Shop', type: 'Transactional' }, []])
  expect(message?.id).toMatch(/\S{8}/)
  expect(await spent()).toBe(0.25)
  expect(stack().logText()).not.toContain('s3cret-of-sms')
})

test('[380] a delivery to an opted-out number fails permanently, and its subscription stays', async () => {
  const SubscriptionArn = await subscribe('alarms', '+15550101')
  await stack().client.put('/v1/sms/opt-outs/+15550101')
  expect(await ended(await publish('alarms'))).toMatchObject({
    state: 'deadLettered',
    reason: 'permanent',
    attempts: 1,
    lastError: 'opted_out',
  })
  expect(sentTo('+15550101')).toEqual([])
  const shown = await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  expect(shown.Attributes).toMatchObject({ PendingConfirmation: 'false', Endpoint: '+15550101' })
  await aws().sns.send(new OptInPhoneNumberCommand({ phoneNumber: '+15550101' }))
  expect(await ended(await publish('alarms'))).toMatchObject({ state: 'delivered' })
})

test('an answer that never comes dead-letters as outcomeUnknown after one request', async () => {
  provider.respond(({ text }) => text.includes('+15550102'), { hang: 'beforeHeaders' })
  await subscribe('lost', '+15550102')
  expect(await ended(await publish('lost'))).toMatchObject({
    state: 'deadLettered',
    reason: 'outcomeUnknown',
    attempts: 1,
    lastError: 'outcome_unknown',
  })
  expect(sentTo('+15550102')).toHaveLength(1)
})

test('a message to one number is delivered once, and its fate shows the number', async () => {
  const sent = await aws().sns.send(new PublishCommand({ PhoneNumber: '+1 555-0104', Message: 'code 4711' }))
  const messageId = sent.MessageId ?? ''
  expect(await ended(messageId)).toMatchObject({
    state: 'delivered',
    attempts: 1,
    endpoint: '+15550104',
    subscriptionId: null,
  })
  expect(sentTo('+15550104')).toMatchObject([{ text: 'code 4711' }])
  const path = `/v1/messages/${messageId}`
  expect(await stack().client.get(path)).toMatchObject({
    topicArn: null,
    target: '+15550104',
    counts: { delivered: 1 },
  })
})

test('SNS’s attributes of text messages have their effects over the native API, too', async () => {
  const send = async (MaxPrice: number) => {
    const names = { SenderID: 'Login', SMSType: 'Transactional', MaxPrice }
    const given = Object.entries(names).map(([name, value]) => [`AWS.SNS.SMS.${name}`, value])
    const body = { phoneNumber: '+15550108', message: 'code 4711', attributes: Object.fromEntries(given) }
    return ended((await stack().client.post<{ messageId: string }>('/v1/messages', body)).messageId)
  }
  expect(await send(0.3)).toMatchObject({ state: 'delivered' })
  expect(sentTo('+15550108')).toMatchObject([{ from: 'Login', type: 'Transactional' }])
  expect(await send(0.2)).toMatchObject({ state: 'discarded', lastError: 'spend_exceeded' })
  expect(sentTo('+15550108')).toHaveLength(1)
})

test('a message to an opted-out number is accepted, fails permanently and is counted', async () => {
  await stack().client.put('/v1/sms/opt-outs/+15550105')
  const body = { phoneNumber: '+15550105', message: 'code 4711' }
  const { messageId } = await stack().client.post<{ messageId: string }>('/v1/messages', body)
  expect(await ended(messageId)).toMatchObject({
    state: 'discarded',
    reason: 'permanent',
    attempts: 1,
    lastError: 'opted_out',
    endpoint: '+15550105',
  })
  expect(sentTo('+15550105')).toEqual([])
})

test('[389] attributes turn on delivery status logs, with SNS’s members and words', async () => {
  const attributes = {
    DeliveryStatusIAMRole: 'arn:aws:iam::000000000000:role/sms-logs',
    DeliveryStatusSuccessSamplingRate: '100',
  }
  await aws().sns.send(new SetSMSAttributesCommand({ attributes }))
  await subscribe('logged', '+15550106')
  await stack().client.put('/v1/sms/opt-outs/+15550107')
  const direct = { PhoneNumber: '+15550107', Message: 'x'.repeat(161) }
  const [ofTopic, ofNumber = ''] = [
    await publish('logged'),
    (await aws().sns.send(new PublishCommand(direct))).MessageId,
  ]
  await Promise.all([ended(ofTopic), ended(ofNumber)])
  const logs = () =>
    stack()
      .worker(0)
      .logLines()
      .filter(({ msg }) => msg === 'delivery.status')
      .map(({ logGroup, notification, delivery, status }) => ({ logGroup, notification, delivery, status }))
  await waitFor(() => logs().length === 2, { what: 'a log of each message' })
  const notification = { messageId: ofTopic, timestamp: expect.any(String) }
  const delivery = {
    numberOfMessageParts: 1,
    priceInUSD: 0.25,
    smsType: 'Promotional',
    dwellTimeMs: expect.any(Number),
  }
  expect(logs()).toContainEqual({
    logGroup: 'sns/us-east-1/000000000000/logged',
    notification: { ...notification, topicArn: topicArn('logged') },
    delivery: {
      ...delivery,
      destination: '+15550106',
      providerResponse: 'Message has been accepted by phone carrier',
    },
    status: 'SUCCESS',
  })
  expect(logs()).toContainEqual({
    logGroup: 'sns/us-east-1/000000000000/DirectPublishToPhoneNumber/Failure',
    notification: { ...notification, messageId: ofNumber },
    delivery: {
      ...{ ...delivery, numberOfMessageParts: 2, priceInUSD: 0.5 },
      destination: '+15550107',
      providerResponse: 'Phone number is opted out',
    },
    status: 'FAILURE',
  })
})

test('a message past the bound of a month is not sent', async () => {
  const { client } = stack()
  const before = await client.get<{ spentThisMonthUsd: number; monthlySpendLimitUsd: number }>('/v1/sms')
  const allow = (monthlySpendLimitUsd: number) =>
    client.call('PATCH', '/v1/sms', { body: { monthlySpendLimitUsd } })
  await subscribe('costly', '+15550103')
  await allow(0)
  expect(await ended(await publish('costly'))).toMatchObject({
    state: 'deadLettered',
    lastError: 'spend_exceeded',
  })
  expect([sentTo('+15550103'), await spent()]).toEqual([[], before.spentThisMonthUsd])
  await allow(before.monthlySpendLimitUsd)
})

// Its messages are sent after its end, and cost something. So no test of costs follows.
test('a number that hangs does not hold up others', async () => {
  const hung = '+447700900000'
  provider.respond(({ text }) => text.includes(hung), { hang: 'beforeHeaders' })
  const publish = (PhoneNumber: string) =>
    aws().sns.send(new PublishCommand({ PhoneNumber, Message: 'hello' }))
  for (let i = 0; i < 8; i++) await publish(hung)
  await waitFor(() => sentTo(hung).length > 0, { what: 'the first message to the number that hangs' })
  const others = Array.from({ length: 40 }, (_, i) => `+4477009010${String(i).padStart(2, '0')}`)
  await Promise.all(others.map(publish))
  await waitFor(() => others.every((number) => sentTo(number).length === 1), { what: 'the other numbers' })
  expect(sentTo(hung).length).toBeLessThan(8)
})
