/** Mail from subscribing to unsubscribing, with all services and an SMTP server (npm's smtp-server). */
import { verify, X509Certificate } from 'node:crypto'
import {
  ConfirmSubscriptionCommand,
  GetSubscriptionAttributesCommand,
  PublishCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { startMailServer, type TestMail, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../../harness/aws/aws-clients.ts'
import { useStack } from '../../harness/services/stack.ts'

const login = { user: 'fantail', password: 's3cret-of-smtp' }
const server = await startMailServer({ login })
afterAll(() => server.close())
const stack = useStack({
  env: {
    FANTAIL_SMTP_URL: server.url.replace('//', `//${login.user}:${login.password}@`),
    FANTAIL_EMAIL_FROM: 'Fantail <no-reply@fantail.example.com>',
  },
})
const aws = useAwsClients(stack)

const to = (address: string, all = server.mails) => all.filter((mail) => mail.to === address)
/** On a busy machine the dialogue for one mail takes most of a second. */
const mailTo = (address: string, n = 0) =>
  waitFor(() => to(address)[n], { what: `mail ${n + 1} to ${address}`, timeoutMs: 40_000 })
const textOf = (mail: TestMail) => mail.parsed.text ?? ''
const linkIn = (mail: TestMail, page: string) =>
  new RegExp(`http\\S+/${page}\\.html\\?\\S+`).exec(textOf(mail))?.[0] ?? ''
const press = (link: string) => fetch(link, { method: 'POST' })

async function createTopic(name: string): Promise<string> {
  await stack().client.put(`/v1/topics/${name}`)
  return topicArn(name)
}

async function publish(TopicArn: string, Message: string, Subject?: string): Promise<string> {
  return (await aws().sns.send(new PublishCommand({ TopicArn, Message, Subject }))).MessageId ?? ''
}

interface Delivery {
  state: string
  attempts: number
  lastStatusCode: number | null
  lastError: string | null
  endedAt: string | null
  cause: string | null
}

/** The message's only delivery, when it has ended. */
function ended(messageId: string): Promise<Delivery[]> {
  return waitFor(async () => {
    const path = `/v1/messages/${messageId}/deliveries`
    const { deliveries } = (await stack().client.call<{ deliveries?: Delivery[] }>('GET', path)).body
    return deliveries?.[0]?.endedAt ? deliveries : undefined
  })
}

async function ask(TopicArn: string, Endpoint: string, Protocol = 'email'): Promise<string | undefined> {
  const command = new SubscribeCommand({ TopicArn, Protocol, Endpoint })
  return (await aws().sns.send(command)).SubscriptionArn
}

/** A confirmed subscription. The page that the button opens contains its ARN. */
async function subscribe(TopicArn: string, address: string, protocol = 'email'): Promise<string> {
  await ask(TopicArn, address, protocol)
  const page = await (await press(linkIn(await mailTo(address), 'confirmation'))).text()
  return /arn:aws:sns:[\w:-]+:[0-9a-f-]{36}/.exec(page)?.[0] ?? ''
}

/** Whether the signature is valid, as AWS documents it for version 2: SHA-256 over names and values, one per line. */
async function isSigned(envelope: Record<string, string>): Promise<boolean> {
  const names = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
  const signed = names.map((name) => `${name}\n${envelope[name]}\n`).join('')
  const certificate = new X509Certificate(await (await fetch(envelope.SigningCertURL ?? '')).text())
  const signature = Buffer.from(envelope.Signature ?? '', 'base64')
  return verify('sha256', Buffer.from(signed), certificate.publicKey, signature)
}

type Waiting = { lane: { waiting: number; lastError: string | null } }
const subscriptionOf = (arn: string) =>
  stack().client.get<Waiting>(`/v1/subscriptions/${arn.split(':').at(-1)}`)

test('[318][320][322] Subscribe is pending and sends one mail, whose token confirms; before, nothing else is sent', async () => {
  const arn = await createTopic('asking')
  expect(await ask(arn, 'asked@example.com')).toBe('pending confirmation')
  const mail = await mailTo('asked@example.com')
  expect(mail.parsed.subject).toBe('AWS Notification - Subscription Confirmation')
  const queueUrl = await aws().createQueue('asking')
  await aws().subscribe('asking', { protocol: 'sqs', endpoint: queueArn('asking') })
  await publish(arn, 'too early')
  expect((await aws().receive(queueUrl)).Body).toContain('too early')
  const Token = new URL(linkIn(mail, 'confirmation')).searchParams.get('Token') ?? ''
  const confirm = new ConfirmSubscriptionCommand({ TopicArn: arn, Token })
  const { SubscriptionArn } = await aws().sns.send(confirm)
  const { Attributes } = await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  expect(Attributes).toMatchObject({
    Protocol: 'email',
    PendingConfirmation: 'false',
    RawMessageDelivery: 'false',
  })
  expect(Attributes).not.toHaveProperty('DeliveryPolicy')
  await publish(arn, 'in time')
  expect(textOf(await mailTo('asked@example.com', 1))).toMatch(/^in time\n/)
  expect(to('asked@example.com')).toHaveLength(2)
})

test('[328] both kinds get messages, by a link that is pressed, until they leave by another', async () => {
  const arn = await createTopic('both')
  for (const [AttributeName, AttributeValue] of [
    ['DisplayName', 'Daily News'],
    ['SignatureVersion', '2'],
  ]) {
    await aws().sns.send(new SetTopicAttributesCommand({ TopicArn: arn, AttributeName, AttributeValue }))
  }
  await subscribe(arn, 'text@example.com')
  await subscribe(arn, 'json@example.com', 'email-json')
  await publish(arn, 'first', 'Subject one')
  const [text, json] = [await mailTo('text@example.com', 1), await mailTo('json@example.com', 1)]
  expect(text.parsed.subject).toBe('Subject one')
  expect(text.parsed.from?.value).toEqual([{ name: 'Daily News', address: 'no-reply@fantail.example.com' }])
  const envelope = JSON.parse(textOf(json)) as Record<string, string>
  expect(envelope).toMatchObject({ Type: 'Notification', Message: 'first', Subject: 'Subject one' })
  expect(await isSigned(envelope)).toBe(true)
  const link = linkIn(text, 'unsubscribe')
  expect((await fetch(link)).status).toBe(200)
  expect((await press(link)).status).toBe(200)
  const farewell = await mailTo('text@example.com', 2)
  expect(farewell.parsed.subject).toBe('AWS Notification - Unsubscribe Confirmation')
  expect(textOf(farewell)).toContain(arn)
  await publish(arn, 'second')
  await mailTo('json@example.com', 2)
  await press(linkIn(farewell, 'confirmation'))
  await publish(arn, 'third')
  expect(textOf(await mailTo('text@example.com', 3))).toMatch(/^third\n/)
  expect(to('text@example.com')).toHaveLength(4)
})

test('[334] a mail that is put off for now waits, and comes once', async () => {
  const arn = await createTopic('greylisted')
  const subscription = await subscribe(arn, 'grey@example.com')
  let refused = 0
  server.onRecipient = (address) => {
    if (address !== 'grey@example.com' || refused > 0) return undefined
    refused++
    return '451 4.7.1 try again in a minute'
  }
  await publish(arn, 'later')
  await waitFor(async () => (await subscriptionOf(subscription)).lane.waiting === 1 && refused === 1)
  await stack().client.post(`/v1/subscriptions/${subscription.split(':').at(-1)}/retry`, {})
  expect(textOf(await mailTo('grey@example.com', 1))).toMatch(/^later\n/)
  expect((await subscriptionOf(subscription)).lane.waiting).toBe(0)
})

test('[335][340] an address that is refused ends after one attempt, and one that bounced gets nothing', async () => {
  const arn = await createTopic('refused')
  await subscribe(arn, 'gone@example.com')
  let asked = 0
  server.onRecipient = (address) => {
    if (address !== 'gone@example.com') return undefined
    asked++
    return '550 5.7.1 we do not want you'
  }
  expect(await ended(await publish(arn, 'one'))).toMatchObject([
    { state: 'discarded', attempts: 1, lastStatusCode: 550 },
  ])
  const bounces = [{ address: 'Gone@example.com', status: '5.1.1' }]
  await stack().client.post('/v1/email/bounces', { bounces })
  const [second] = await ended(await publish(arn, 'two'))
  expect(second).toMatchObject({ state: 'discarded', attempts: 1, lastError: 'recipient_suppressed' })
  expect(asked).toBe(1)
})

test('[339] mails to one address leave at ten a second, and the subscription stays', async () => {
  const arn = await createTopic('crowded')
  const subscription = await subscribe(arn, 'crowd@example.com')
  const COUNT = 30
  const publishedAt = Date.now()
  await Promise.all(Array.from({ length: COUNT }, (_, n) => publish(arn, `n${n}`)))
  await mailTo('crowd@example.com', COUNT)
  const lastAt = Math.max(...to('crowd@example.com').map(({ at }) => at))
  // At ten mails a second the last one leaves 2,900 ms after the first. The first may be received late.
  expect(lastAt - publishedAt).toBeGreaterThan(2_800)
  expect(
    (await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: subscription })))
      .Attributes,
  ).toMatchObject({
    PendingConfirmation: 'false',
  })
})

test('[336] while the server refuses the login, mails wait and no attempt is spent', async () => {
  const arn = await createTopic('refusing')
  await subscribe(arn, 'patient@example.com')
  server.onSender = () => '530 5.7.0 login first'
  const messageId = await publish(arn, 'waits')
  const delivery = await waitFor(async () => {
    const path = `/v1/messages/${messageId}/deliveries`
    const { deliveries } = (await stack().client.call<{ deliveries?: Delivery[] }>('GET', path)).body
    return deliveries?.[0]?.cause === 'misconfigured' ? deliveries[0] : undefined
  })
  expect(delivery).toMatchObject({ state: 'waiting', attempts: 0, endedAt: null })
  await waitFor(() => stack().logText().includes('fantail@127.0.0.1'))
  expect(stack().logText()).not.toContain(login.password)
})
