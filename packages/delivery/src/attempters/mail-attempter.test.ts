/**
 * Sends mails over a real SMTP server (npm's smtp-server). npm's mailparser and a DKIM verifier (npm's mailauth) read
 * them.
 */
import { execFileSync } from 'node:child_process'
import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import { createRequire } from 'node:module'
import type { AttemptResult, Message, SubscriptionRecord } from '@fantail/contracts'
import { createSelfSigned, startMailServer, type TestMailServer } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { compileEnvelope } from '../envelope/envelope.ts'
import { compileTarget } from '../envelope/target.ts'
import { isUnsubscribeToken } from '../envelope/unsubscribe-link.ts'
import type { MailResult, MailSettings } from '../mail/mail-settings.ts'
import { MailAttempter } from './mail-attempter.ts'

const LINK_KEY = createSecretKey(Buffer.alloc(32, 7))
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:news'
const SUBSCRIPTION = `${TOPIC}:0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21`
const PUBLIC_URL = 'https://fantail.example.com'
const FROM = { name: 'Fantail', address: 'no-reply@fantail.example.com' }

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function mailServer(options?: Parameters<typeof startMailServer>[0]): Promise<TestMailServer> {
  const server = await startMailServer(options)
  opened.push(server)
  return server
}

interface Sending {
  protocol?: 'email' | 'email-json'
  address?: string
  displayName?: string
  message?: Partial<Message>
  delivery?: Buffer
}

/** An attempter whose shared state is in memory. */
function attempterFor(smtpUrl: string, settings: MailSettings = {}) {
  const suppressed = new Map<string, string>()
  const results: MailResult[] = []
  const waits = { ms: 0 }
  const clock = { ms: 0 }
  const attempter = new MailAttempter(
    { smtpUrl, emailFrom: FROM, attemptTimeoutMs: 10_000, ...settings },
    {
      itemIdOf: (_, delivery) => `item-${delivery.toString('hex')}`,
      now: () => clock.ms,
      mail: {
        linkKey: async () => LINK_KEY,
        isSuppressed: async (address) => suppressed.has(address),
        suppress: async (address, detail) => void suppressed.set(address, detail),
        takeOfDomain: async () => waits.ms,
        onResult: (result) => void results.push(result),
      },
    },
  )
  opened.push(attempter)
  const send = (sending: Sending = {}) =>
    new Promise<AttemptResult>((resolve) => attempter.attempt(attemptOf(sending), resolve))
  return { attempter, send, suppressed, results, waits, clock }
}

function attemptOf({ protocol = 'email', address = 'ada@example.com', ...given }: Sending) {
  const record = {
    id: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
    arn: SUBSCRIPTION,
    topicArn: TOPIC,
    protocol,
    endpoint: address,
    rawMessageDelivery: false,
  } as SubscriptionRecord
  const policy = { requestPolicy: { headerContentType: 'text/plain' } }
  const message: Message = {
    messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e22',
    topicArn: TOPIC,
    publishedAt: 1_790_000_000_000,
    message: 'hello',
    ...given.message,
  }
  const target = compileTarget(record, policy as Parameters<typeof compileTarget>[1], {
    displayName: given.displayName ?? '',
  })
  return {
    target,
    envelope: compileEnvelope(message, { publicUrl: PUBLIC_URL, key: LINK_KEY }),
    delivery: given.delivery ?? Buffer.from('01', 'hex'),
  }
}

const headerOf = (raw: Buffer, name: string) => {
  const head = raw.toString().split('\r\n\r\n')[0] ?? ''
  return head.split(/\r\n(?!\s)/).filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
}

/** Runs in its own process, because mailauth finds its modules only by Node's default conditions. */
function dkimResults(raw: Buffer, records: Record<string, string>): string[] {
  const mailauth = createRequire(import.meta.url).resolve('mailauth')
  const script = `
    const { dkimVerify } = require(${JSON.stringify(mailauth)})
    const records = ${JSON.stringify(records)}
    const resolver = async (name) => [[records[name] ?? '']]
    const raw = require('node:fs').readFileSync(0)
    dkimVerify(raw, { resolver }).then(({ results }) => console.log(results.map((one) => one.status.result).join()))`
  const printed = execFileSync(process.execPath, ['-e', script], { input: raw, encoding: 'utf8' })
  return printed.trim().split(',')
}

const unsubscribeLinkIn = (text: string) => /https:\S+\/unsubscribe\.html\?\S+/.exec(text)?.[0] ?? ''

test('[327] a notification is the message with a footer that unsubscribes this subscription', async () => {
  const server = await mailServer()
  const { send, results } = attempterFor(server.url)
  const text = `Zeile 1 — äöü\n\n--\n.\nFrom me\n  spaces  \n${'x'.repeat(2_000)}`
  expect(await send({ message: { message: text, subject: 'Good news' } })).toMatchObject({
    kind: 'response',
    statusCode: 250,
  })
  expect(results).toEqual(['delivered'])
  const [mail] = server.mails
  expect(mail).toMatchObject({ from: FROM.address, to: 'ada@example.com' })
  const body = mail?.parsed.text ?? ''
  expect(body.startsWith(`${text}\n\n--\nIf you wish to stop receiving notifications`)).toBe(true)
  const link = new URL(unsubscribeLinkIn(body))
  expect(link.origin + link.pathname).toBe(`${PUBLIC_URL}/unsubscribe.html`)
  expect(link.searchParams.get('SubscriptionArn')).toBe(SUBSCRIPTION)
  expect(isUnsubscribeToken(link.searchParams.get('Token') ?? '', SUBSCRIPTION, LINK_KEY)).toBe(true)
  expect(isUnsubscribeToken(link.searchParams.get('Token') ?? '', `${SUBSCRIPTION}0`, LINK_KEY)).toBe(false)
  const { headers } = mail?.parsed ?? {}
  expect(headers?.get('auto-submitted')).toBe('auto-generated')
  expect(headers?.get('x-fantail-topic')).toBe(TOPIC)
  expect(headers?.get('x-fantail-message-id')).toBe('0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e22')
  expect(headerOf(mail?.raw ?? Buffer.alloc(0), 'List-Id')).toEqual(['List-ID: <news.fantail.example.com>'])
})

test('[324][325] the subject is exactly that of the message, else AWS’s', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  const subject = 'Grüße, 你好 & =?utf-8?q?no?='
  await send({ message: { subject } })
  await send()
  expect(server.mails.map(({ parsed }) => parsed.subject)).toEqual([subject, 'AWS Notification Message'])
  expect(headerOf(server.mails[0]?.raw ?? Buffer.alloc(0), 'Subject')[0]).toMatch(
    /^[\x20-\x7e\r\n]*=\?UTF-8\?/,
  )
})

test('[326] the sender’s name is the topic’s display name, else that of the settings', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  await send({ displayName: 'Nachrichten für alle' })
  await send()
  const senders = server.mails.map(({ parsed }) => parsed.from?.value[0])
  expect(senders).toEqual([{ name: 'Nachrichten für alle', address: FROM.address }, FROM])
})

test('[338] CR and LF in a subject or a display name add no header and no recipient', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  const evil = 'a\r\nBcc: eve@example.com\r\n\r\nbody\0'
  await send({ displayName: evil, message: { subject: evil } })
  const [mail] = server.mails
  expect(mail?.to).toBe('ada@example.com')
  expect(mail?.parsed.headers.has('bcc')).toBe(false)
  expect(mail?.parsed.subject).toBe('a Bcc: eve@example.com body')
  expect(mail?.parsed.text?.startsWith('hello\n')).toBe(true)
})

test('[328] email-json holds SNS’s envelope alone, with the link of the page', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  await send({ protocol: 'email-json', message: { message: 'a "quoted" text — ü', subject: 'S' } })
  const parsed = JSON.parse(server.mails[0]?.parsed.text ?? '') as Record<string, string>
  expect(Object.keys(parsed)).toEqual([
    'Type',
    'MessageId',
    'TopicArn',
    'Subject',
    'Message',
    'Timestamp',
    'UnsubscribeURL',
  ])
  expect(parsed.Message).toBe('a "quoted" text — ü')
  expect(unsubscribeLinkIn(parsed.UnsubscribeURL ?? '')).toBe(parsed.UnsubscribeURL)
})

test('each kind gets its own text of a message that has one', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  const message = {
    structure: 'json' as const,
    message: JSON.stringify({ default: 'd', email: 'e', 'email-json': 'j' }),
  }
  await send({ message })
  await send({ protocol: 'email-json', message })
  expect(server.mails[0]?.parsed.text?.startsWith('e\n\n--')).toBe(true)
  expect(JSON.parse(server.mails[1]?.parsed.text ?? '')).toMatchObject({ Message: 'j' })
})

test('[319] the mail that asks has the topic’s ARN and a link with the token, for both kinds', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  const message = { kind: 'SubscriptionConfirmation' as const, token: 'abc123' }
  await send({ message, address: 'ada+x@example.com' })
  await send({ message, address: 'ada+x@example.com', protocol: 'email-json' })
  for (const { parsed } of server.mails) {
    expect(parsed.subject).toBe('AWS Notification - Subscription Confirmation')
    expect(parsed.text).toContain(`\n\n${TOPIC}\n\n`)
    expect(parsed.text).toContain(
      `${PUBLIC_URL}/confirmation.html?TopicArn=${encodeURIComponent(TOPIC)}&Token=abc123&Endpoint=ada%2Bx%40example.com`,
    )
    expect(parsed.headers.has('list')).toBe(false)
  }
})

test('[332] the mail after an unsubscribe has a link that restores', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  await send({ message: { kind: 'UnsubscribeConfirmation', token: 'def456' } })
  const { parsed } = server.mails[0] ?? {}
  expect(parsed?.subject).toBe('AWS Notification - Unsubscribe Confirmation')
  expect(parsed?.text).toContain(`\n\n${TOPIC}\n\n`)
  expect(parsed?.text).toContain('/confirmation.html?')
  expect(parsed?.text).toContain('Token=def456')
})

test('[329] both headers of one click are there, covered by a DKIM signature that verifies', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = await mailServer()
  const { send } = attempterFor(server.url, {
    emailDkimDomain: 'fantail.example.com',
    emailDkimSelector: 'k1',
    emailDkimKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  })
  await send({ message: { message: 'signed — ü\n  with spaces  \n', subject: 'Grüße' }, displayName: 'Ünï' })
  const raw = server.mails[0]?.raw ?? Buffer.alloc(0)
  const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const record = { 'k1._domainkey.fantail.example.com': `v=DKIM1; k=rsa; p=${p}` }
  expect(dkimResults(raw, record)).toEqual(['pass'])
  const signed = /;h=([^;]+);/.exec(headerOf(raw, 'DKIM-Signature')[0]?.replace(/\s+/g, '') ?? '')?.[1] ?? ''
  expect(signed.toLowerCase().split(':')).toEqual(
    expect.arrayContaining(['from', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']),
  )
  expect(headerOf(raw, 'List-Unsubscribe-Post')).toEqual([
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  ])
  const [link = ''] = headerOf(raw, 'List-Unsubscribe')
  expect(link.replace(/\s+/g, '')).toMatch(
    /^List-Unsubscribe:<https:\/\/fantail\.example\.com\/unsubscribe\.html\?[^<>]+>$/,
  )
  const tampered = Buffer.from(
    raw.toString('latin1').replace('List-Unsubscribe=One-Click', 'List-Unsubscribe=Two'),
    'latin1',
  )
  expect(dkimResults(tampered, record)).toEqual(['fail'])
})

test('[337] every attempt of a delivery has one Message-ID, also after a connection that was cut', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  server.onMail = () => 'drop'
  expect(await send()).toMatchObject({ kind: 'failure', error: 'connection_reset', permanent: false })
  server.onMail = () => undefined
  expect(await send()).toMatchObject({ statusCode: 250 })
  expect(await send({ delivery: Buffer.from('02', 'hex') })).toMatchObject({ statusCode: 250 })
  expect(server.seen.map(({ parsed }) => parsed.messageId)).toEqual([
    '<item-01@fantail.example.com>',
    '<item-01@fantail.example.com>',
    '<item-02@fantail.example.com>',
  ])
})

test('a connection lasts for many mails, and one that the server ends between two mails costs no attempt', async () => {
  const server = await mailServer()
  const { send } = attempterFor(server.url)
  for (let sent = 0; sent < 150; sent++) expect(await send()).toMatchObject({ statusCode: 250 })
  expect(server.connections).toBe(1)
  const replies = ['421 4.7.0 too many mails over this connection']
  server.onSender = () => replies.shift()
  expect(await send()).toMatchObject({ statusCode: 250 })
  expect(server.mails).toHaveLength(151)
  server.onSender = () => '421 4.3.2 shutting down'
  expect(await send()).toMatchObject({ kind: 'response', statusCode: 421 })
  expect(server.mails).toHaveLength(151)
})

test('a 451 is retried, a 550 is permanent, and an address that does not exist is suppressed', async () => {
  const server = await mailServer()
  const { send, suppressed, results } = attempterFor(server.url)
  server.onRecipient = () => '451 4.7.1 greylisted'
  expect(await send()).toMatchObject({ kind: 'response', statusCode: 451 })
  server.onRecipient = () => '550 5.7.1 blocked'
  expect(await send()).toMatchObject({ kind: 'response', statusCode: 550 })
  expect([...suppressed]).toEqual([])
  server.onRecipient = () => '550 5.1.1 no such user'
  expect(await send({ address: 'Ada@Example.com' })).toMatchObject({ kind: 'response', statusCode: 550 })
  expect([...suppressed.keys()]).toEqual(['ada@example.com'])
  server.onRecipient = () => undefined
  expect(await send()).toMatchObject({
    kind: 'failure',
    error: 'recipient_suppressed',
    detail: 'recipient suppressed',
    permanent: true,
  })
  expect(results).toEqual(['transient', 'permanent', 'permanent', 'suppressed'])
  expect(server.seen).toHaveLength(0)
})

test('[336] a wrong password is our own misconfiguration, and no result holds it', async () => {
  const server = await mailServer({ login: { user: 'me', password: 'right' } })
  const { send, results } = attempterFor(server.url.replace('//', '//me:wr0ng-s3cret@'))
  const result = await send()
  expect(result).toMatchObject({
    kind: 'misconfigured',
    credential: `smtp:me@127.0.0.1:${server.port}`,
    detail: expect.stringContaining('535 5.7.8'),
  })
  expect(JSON.stringify(result)).not.toContain('wr0ng-s3cret')
  expect(results).toEqual(['misconfigured'])
  const right = attempterFor(server.url.replace('//', '//me:right@'))
  expect(await right.send()).toMatchObject({ statusCode: 250 })
})

test('a login that is missing and a sender that is refused are our own misconfiguration', async () => {
  const server = await mailServer({ login: { user: 'me', password: 'right' } })
  expect(await attempterFor(server.url).send()).toMatchObject({
    kind: 'misconfigured',
    detail: expect.stringContaining('530'),
  })
  const open = await mailServer()
  open.onSender = () => '553 5.7.1 not your address'
  expect(await attempterFor(open.url).send()).toMatchObject({
    kind: 'misconfigured',
    detail: expect.stringContaining('553 5.7.1'),
  })
})

test('TLS that is required and not offered, or has a foreign certificate, is our own misconfiguration', async () => {
  const plain = await mailServer()
  const required = await attempterFor(plain.url, { smtpTls: 'required' }).send()
  expect(required).toMatchObject({ kind: 'misconfigured' })
  const certificate = createSelfSigned(['127.0.0.1'])
  const starting = await mailServer({ startTls: true, ...certificate })
  expect(await attempterFor(starting.url, { smtpTls: 'required' }).send()).toMatchObject({
    kind: 'misconfigured',
  })
  const secure = await mailServer({ secure: true, ...certificate })
  expect(await attempterFor(secure.url).send()).toMatchObject({ kind: 'misconfigured' })
  expect([...plain.seen, ...starting.seen, ...secure.seen]).toEqual([])
})

test('a server that hangs or cannot be reached is a failure that is retried, within the attempt’s time', async () => {
  const server = await mailServer()
  server.onMail = () => new Promise(() => undefined)
  const { send } = attempterFor(server.url, { attemptTimeoutMs: 300 } as MailSettings)
  expect(await send()).toMatchObject({ kind: 'failure', error: 'timeout', permanent: false })
  const { url, close } = await startMailServer()
  await close()
  expect(await attempterFor(url).send()).toMatchObject({
    kind: 'failure',
    error: 'connection_refused',
    permanent: false,
  })
})

test('a domain past its rate gets nothing for now', async () => {
  const server = await mailServer()
  const { send, waits, results } = attempterFor(server.url)
  waits.ms = 10_000
  expect(await send()).toMatchObject({ kind: 'failure', error: 'service_limit', permanent: false })
  expect(server.seen).toHaveLength(0)
  waits.ms = 0
  expect(await send()).toMatchObject({ statusCode: 250 })
  expect(results).toEqual(['throttled', 'delivered'])
})

test('a server that hangs holds few attempts of a process, and one that answers many', async () => {
  const server = await mailServer()
  const { send, attempter, clock } = attempterFor(server.url)
  await Promise.all(Array.from({ length: 40 }, () => send()))
  server.onMail = () => new Promise(() => undefined)
  const isRefused = (result: AttemptResult) => result.kind === 'failure' && result.error === 'service_limit'
  const hanging = Array.from({ length: 520 }, () => send())
  expect((await Promise.all(hanging.slice(500))).every(isRefused)).toBe(true)
  clock.ms += 2_001
  expect(isRefused(await send())).toBe(true)
  await attempter.close()
  expect((await Promise.all(hanging)).every(({ kind }) => kind === 'failure')).toBe(true)
})
