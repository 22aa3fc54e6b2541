/** Every command of `fantail`, on one stack. Those that fail run as processes, as users run them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  Attempt,
  Delivery,
  EventType,
  FoundDeadLetter,
  FoundKeptMessage,
  FoundName,
  Message,
  Redrive,
  Subscription,
} from '@fantail/client/api'
import { waitFor } from '@fantail/test-kit'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import {
  type Ended,
  type FantailOptions,
  followFantail,
  runFantail,
} from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

interface Explained {
  message: Message
  deliveries: Delivery[]
  attempts?: Attempt[]
}

const stack = useStack({ redrive: true })
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'fantail-cli-'))
})

afterAll(() => rm(home, { recursive: true }))

function fantail(line: string, options: FantailOptions = {}, run = callFantail): Promise<Ended> {
  const words = line.split(' ').filter((word) => word !== '')
  const env = { FANTAIL_URL: stack().api.url, XDG_CONFIG_HOME: home, ...options.env }
  return run(words, { ...options, env })
}

/** The objects that a command prints with `--json`. */
async function objects<T>(line: string, options?: FantailOptions): Promise<T[]> {
  const ended = await fantail(`${line} --json`, options)
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  return objectsOf<T>(ended)
}

function objectsOf<T>({ stdout }: Ended): T[] {
  return stdout
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as T)
}

function lastOf<T>(ended: Ended): T {
  return objectsOf<T>(ended).at(-1) as T
}

test('topics are made, listed, changed and deleted', async () => {
  expect((await fantail('topics create shop --rate 5/s --curve steady')).stdout).toMatch(/^topic +shop\n/)
  const [changed] = await objects<object>('topics set shop --retention 2d --set displayName=Shop')
  expect(changed).toMatchObject({ name: 'shop', retentionSeconds: 172_800, displayName: 'Shop' })
  expect(await fantail('topics list --prefix sho --quiet')).toMatchObject({ code: 0, stdout: 'shop\n' })
  expect((await fantail('topics list')).stdout).toMatch(/^TOPIC +ACTIVE.*\nshop +0 /)
  expect(await objects('topics list --prefix sho')).toEqual([changed])
  expect(await objects('topics get shop')).toEqual([changed])

  const asked = await fantail('topics rm shop')
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('Add --yes.')])
  expect(await fantail('topics rm shop --yes')).toMatchObject({ code: 0, stdout: 'deleted shop\n' })
  await objects('topics create shop')
  expect(await objects('topics rm shop --yes')).toEqual([{ deleted: 'shop' }])
})

test.each([
  ['topics get nothing', {}, 3, 'not_found, 404'],
  ['topics set', {}, 2, "missing required argument 'topic'"],
  ['topics list --wrong', {}, 2, "unknown option '--wrong'"],
  ['topics list --limit x', {}, 2, '--limit must be a whole number'],
  ['topics create x.fifo --set fifo:=3', {}, 2, 'validation_failed'],
  ['topics list', { FANTAIL_URL: 'http://127.0.0.1:1' }, 6, 'does not answer'],
  ['topics list --profile nobody', {}, 3, 'profile nobody does not exist'],
  ['topics list --timeout soon', {}, 2, '--timeout must be a time'],
  ['topics list --timeout 1ms', {}, 7, 'not done after 1ms'],
])('`fantail %s` says what is wrong', async (line, env, code, text) => {
  const { stdout, stderr, ...ended } = await fantail(line, { env }, runFantail)
  expect([ended.code, stdout, stderr]).toEqual([code, '', expect.stringContaining(text)])
})

test('a profile keeps server and key, and is used without flags', async () => {
  const { url } = stack().api
  const env = { FANTAIL_URL: '' }
  const key = `ft_FK${'A'.repeat(20)}`
  const [saved] = await objects<object>(`login ${url} --name here --quiet`, { env, stdin: `${key}\n` })
  expect(saved).toMatchObject({ profile: 'here', url })
  expect(await objects('whoami', { env })).toMatchObject([
    { profile: 'here', url, keyId: expect.any(String) },
  ])
  expect((await fantail('use', { env })).stdout).toMatch(/PROFILE.*\nhere +http.* yes +yes\n/)
  expect(await objects('use', { env })).toEqual([{ profile: 'here', url, hasKey: true, current: true }])
  expect((await fantail('use here --quiet', { env })).stdout).toBe('here\n')
  expect(await objects('use here', { env })).toEqual([{ profile: 'here', url }])
  expect((await fantail('use there', { env })).code).toBe(3)
})

test('a catalogue is made, imported, written as types, and chosen from', async () => {
  await objects('topics create typed --set eventTypeCheck=refuse')
  const [made] = await objects<EventType>(
    'event-types set typed order.paid --schema {"required":["id"]} --deprecated',
  )
  expect(made).toMatchObject({ name: 'order.paid', schemaVersion: 1, deprecated: true })
  const document = 'openapi: 3.1.0\nwebhooks:\n  order.sent:\n    post: {summary: Sent.}\n'
  const planned = await fantail('event-types import typed - --plan', { stdin: document })
  expect([planned.code, planned.stdout]).toEqual([9, '+ order.sent\n1 change planned\n'])
  expect(await objects('event-types import typed -', { stdin: document })).toMatchObject([{ applied: true }])
  expect((await fantail('event-types list typed')).stdout).toMatch(/^TYPE.*\norder.paid +1 +deprecated/)
  expect(await objects('event-types list typed')).toMatchObject([
    { name: 'order.paid' },
    { name: 'order.sent' },
  ])
  expect(await objects('event-types get typed order.paid --version 1')).toEqual([made])
  const types = await fantail('event-types typescript typed')
  expect(types.stdout).toContain('export type OrderPaid = {\n  id: unknown\n}')
  expect(await objects('event-types typescript typed')).toEqual([{ source: types.stdout.trimEnd() }])
  const hook = await counting()
  const added = await fantail(`subs add typed ${hook} --types order.paid,refund.* --json`)
  expect([added.code, added.stderr]).toEqual([0, 'eventTypes: the topic has no type refund.*\n'])
  const [sub] = objectsOf<Subscription>(added)
  expect(sub?.eventTypes).toEqual(['order.paid', 'refund.*'])
  const published = await fantail('publish typed {"id":1} --type order.paid')
  expect([published.code, published.stderr]).toEqual([0, expect.stringContaining('is deprecated')])
  expect((await fantail('publish typed {} --type order.paid')).code).toBe(2)
  await waitFor(() => arrived.get(hook) === 1)
  expect(await objects('event-types rm typed order.sent --yes')).toEqual([{ deleted: 'order.sent' }])
})

test('a subscription is made, changed, tested, paused and deleted', async () => {
  await objects('topics create parcels')
  const hook = await counting()
  const [sub] = await objects<Subscription>(`subs add parcels ${hook} --rate 50/s --name crm --raw`)
  expect(sub).toMatchObject({ name: 'crm', status: 'active', rawMessageDelivery: true })
  const id = sub?.id ?? ''
  const [changed] = await objects(`subs set ${id} --no-raw --filter {"color":["red"]} --metadata team=blue`)
  expect(changed).toMatchObject({
    rawMessageDelivery: false,
    filterPolicy: { color: ['red'] },
    metadata: { team: 'blue' },
  })
  expect((await fantail(`subs list --topic parcels`)).stdout).toMatch(/^ID.*\n.* parcels +active +0 +http/)
  expect(await objects(`subs list --topic parcels`)).toMatchObject([{ id }])
  expect(await objects(`subs get ${id}`)).toEqual([changed])
  expect((await fantail(`subs test ${id}`)).stdout).toMatch(/^200 in /)
  expect(await objects(`subs test ${id}`)).toMatchObject([{ statusCode: 200 }])
  answers.set(hook, 500)
  expect(await fantail(`subs test ${id} --json`)).toMatchObject({ code: 1, stderr: '' })
  expect(await fantail(`subs pause ${id}`)).toMatchObject({ code: 0, stdout: `${id} is paused\n` })
  expect(await fantail(`subs resume ${id} --quiet`)).toMatchObject({ code: 0, stdout: `${id}\n` })
  expect(await objects(`subs pause ${id}`)).toMatchObject([{ id, status: 'paused' }])
  expect(await objects(`subs resume ${id}`)).toMatchObject([{ id, status: 'active' }])
  expect(await objects(`subs retry ${id} --rate 5/s`)).toEqual([{ moved: 0 }])
  const key = await fantail(`subs rotate-key ${id}`)
  expect([key.code, key.stdout, key.stderr]).toEqual([
    0,
    expect.stringMatching(/^whsec_\S+\n$/),
    'The secret is shown this once.\n',
  ])
  const [keyed] = await objects(`subs rotate-key ${id} --algorithm ed25519`)
  expect(keyed).toMatchObject({ publicKey: expect.stringMatching(/^whpk_/) })
  expect(await objects(`subs rm ${id} --yes`)).toEqual([{ deleted: id }])
})

test('a waiting message is set aside, unless it would be lost', async () => {
  const { client } = stack()
  await client.put('/v1/topics/aside')
  const add = (path: string, set: object = {}) =>
    client.post<{ id: string }>('/v1/topics/aside/subscriptions', {
      endpoint: `http://127.0.0.1:9/${path}`,
      ...set,
    })
  const [kept, lost] = [await add('kept'), await add('lost', { redrivePolicy: null })]
  const { messageId } = await client.post<{ messageId: string }>('/v1/topics/aside/messages', {
    message: 'bad',
  })
  await waitFor(async () => {
    const { lane } = await client.get<{ lane: { waiting: number } }>(`/v1/subscriptions/${kept.id}`)
    return lane.waiting === 1
  })
  const [aside] = await objects(`subs set-aside ${kept.id} ${messageId}`)
  expect(aside).toMatchObject({ messageId, queueArn: expect.stringMatching(/aside-dead-letters$/) })
  const refused = await fantail(`subs set-aside ${lost.id} ${messageId}`)
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('redrivePolicy') })
})

test('a message is published, and explained until its delivery has ended', async () => {
  const sub = await subscribed('mails', await counting())
  const published = await fantail('publish mails - --attr event=sent --subject hello', {
    stdin: '{"mail":1}',
  })
  const messageId = published.stdout.trim()
  expect(published).toMatchObject({ code: 0, stderr: '' })
  const explained = await objects<Explained>(`explain ${messageId} --sub ${sub} --follow --timeout 30s`)
  expect(explained.at(-1)).toMatchObject({
    message: { messageId },
    deliveries: [{ subscriptionId: sub, state: 'delivered', attempts: 1 }],
  })
  const text = (await fantail(`explain ${messageId}`)).stdout
  expect(text).toMatch(/^mails · \d+ B · published .*\n✓ +http.* delivered +1 of 4 attempts, last 200/)
  await fantail('topics create unheard')
  const [unheard] = await objects<{ messageId: string }>('publish unheard hello')
  expect((await fantail(`explain ${unheard?.messageId} --follow`)).stdout).toContain(
    'no deliveries: the topic has no',
  )
  expect((await fantail(`explain ${crypto.randomUUID()}`)).code).toBe(3)

  const refused = await subscribed('mails', 'http://127.0.0.1:9/nobody')
  const lost = (await fantail('publish mails lost --quiet')).stdout.trim()
  const recorded = () =>
    stack().client.call<{ attempts?: unknown[] }>(
      'GET',
      `/v1/messages/${lost}/deliveries/${refused}/attempts`,
    )
  await waitFor(async () => ((await recorded()).body.attempts ?? []).length > 0, { what: 'an attempt' })
  const [tried] = await objects<Explained>(`explain ${lost} --sub ${refused}`)
  expect(tried?.attempts?.[0]).toMatchObject({ attempt: 1, error: 'connection_refused', stage: 'connect' })
  const shown = (await fantail(`explain ${lost} --sub ${refused}`)).stdout
  expect(shown).toMatch(/\n {4}[\d:.]+ attempt 1 · first · connection_refused in \d/)
  await fantail(`subs rm ${refused} --yes`)

  const [once, twice] = await Promise.all(
    [1, 2].map(() => fantail('publish mails once --idempotency-key k1 --quiet')),
  )
  expect(once?.stdout).toBe(twice?.stdout)
  const triggered = await objects<object>('trigger mails mail.sent --data n:=3 --follow --timeout 30s')
  expect(triggered[0]).toMatchObject({ event: { type: 'mail.sent', data: { sample: true, n: 3 } } })
  expect(triggered.at(-1)).toMatchObject({ deliveries: [{ state: 'delivered' }] })
})

test('each line of stdin is published, in batches and by rate', async () => {
  const hook = await counting()
  await subscribed('lines', hook)
  const stdin = Array.from({ length: 250 }, (_, index) => `line ${index + 1}`).join('\n')
  const receipts = await objects<{ line: number }>('publish lines --lines --quiet', { stdin })
  expect(receipts.map(({ line }) => line).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 250 }, (_, index) => index + 1),
  )
  await waitFor(() => arrived.get(hook) === 250, { what: '250 arrivals' })

  const objectsGiven = '{"message":"a","attributes":{"n":1}}\n\n{"message":{"b":2}}\n'
  const paced = await fantail('publish lines --objects --rate 10/s', { stdin: objectsGiven })
  expect(paced).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^published 2 messages in/),
  })
  const wrong = await fantail('publish lines --objects', { stdin: 'x\n' })
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('line 1 is not a JSON object') })
})

test('a refused batch leaves the rest published, and says which lines it had', async () => {
  await subscribed('halves', await counting())
  const lines = Array.from({ length: 101 }, () => '{"message":"a"}')
  const stdin = [...lines.slice(0, 100), '{"message":"b","attributes":{"":1}}'].join('\n')
  const ended = await fantail('publish halves --objects --idempotency-key half', { stdin })
  expect(ended).toMatchObject({ code: 8, stderr: expect.stringContaining('lines 101 to 101 are not known') })
  expect(ended.stderr).toContain('100 messages were published.')
})

test('queues are made, filled, looked into and emptied', async () => {
  await objects('queues create done-dlq')
  const [queue] = await objects('queues create done --visibility 1m --dlq done-dlq --max-receives 3')
  expect(queue).toMatchObject({ visibilityTimeoutSeconds: 60, redrivePolicy: { maxReceiveCount: 3 } })
  expect(await objects('queues set done --retention 2d')).toMatchObject([{ retentionSeconds: 172_800 }])
  const [sent] = await objects<{ messageId: string }>('queues send done first --attr kind=mail')
  expect((await fantail('queues peek done')).stdout).toContain(`${sent?.messageId}  0`)
  expect(await objects('queues peek done')).toMatchObject([{ messageId: sent?.messageId, body: 'first' }])
  expect(await objects('queues get done')).toMatchObject([{ name: 'done', counts: { visible: 1 } }])
  expect(await objects('queues list --limit 1')).toHaveLength(1)
  expect(await objects('queues receive done --ack --wait 1s')).toMatchObject([
    { body: 'first', receiveCount: 1 },
  ])
  await objects('queues send done second')
  expect(await objects('queues purge done --yes')).toEqual([{ discarded: 1 }])
  expect((await fantail('queues list')).stdout).toMatch(/^QUEUE.*\n(.*\n)*done +0 +0/)
  expect(await objects('queues rm done done-dlq --yes')).toHaveLength(2)
})

/** The editor is a program that changes the text. */
async function editAndSend({ messageId }: { messageId: string }) {
  const edit = (env: Record<string, string>) =>
    fantail(`dlq edit dead ${messageId} --attr mended=yes --yes --watch --json`, { env })
  expect(await edit({ EDITOR: 'false' })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nothing is sent/),
  })
  const sent = await edit({ EDITOR: 'sed -i s/^/mended-/' })
  expect([sent.code, lastOf<Redrive>(sent)]).toEqual([0, expect.objectContaining({ status: 'completed' })])
  expect(sent.stderr).toMatch(/- [abc]\n\+ mended-[abc]\n\+ mended=yes\n/)
}

async function untilLetters(queue: string, isEnough: (count: number) => boolean): Promise<void> {
  const count = async () => {
    const { counts } = await stack().client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)
    return counts.visible
  }
  await waitFor(async () => isEnough(await count()), { what: `dead letters in ${queue}` })
}

/** Waits until the queue has so many letters that no receiver has. */
async function deadLetters(queue: string, count: number): Promise<{ messageId: string }[]> {
  await untilLetters(queue, (found) => found === count)
  const letters = await objects<{ messageId: string }>(`dlq show ${queue}`)
  expect(letters).toHaveLength(count)
  return letters
}

test('kept messages are found by what they say, and anything by its name', async () => {
  const keep = JSON.stringify({ seconds: 60, bytes: 1_048_576 })
  await subscribed('hooli-orders', await counting(), ' --name ERP')
  await objects(`topics set hooli-orders --set keepMessages:=${keep}`)
  const body = JSON.stringify({ size: 'Größe M' }).replace('ö', '\\u00f6')
  await fantail('publish hooli-orders - --attr eventType=order.paid', { stdin: body })
  const found = () => objects<FoundKeptMessage>('search größe --type order.* --prefix hooli- --since 1h')
  await waitFor(async () => (await found()).length === 1, { what: 'the message in its ring' })
  const line = { eventType: 'order.paid', line: '{"size":"Größe M"}' }
  expect(await found()).toMatchObject([line])
  const shown = await fantail('search größe')
  expect(shown.stdout).toMatch(/^MESSAGE .*\n\S+ +\S+ +hooli-orders +order\.paid +\{"size":"Größe M"\}\n$/)
  expect(shown.stderr).toMatch(/looked at \d+ message/)
  const named = { kind: 'subscription', name: 'ERP', topic: 'hooli-orders' }
  const names = () => objects<FoundName>('find orders erp')
  await waitFor(async () => (await names()).length > 0, { what: 'the name' })
  expect(await names()).toMatchObject([named])
})

test('dead letters are shown, exported, sent again and deleted', async () => {
  await objects('queues create dead')
  const hook = await counting(404)
  const sub = await subscribed('failing', hook, ' --dlq dead')
  await fantail('publish failing --lines', { stdin: 'a\nb\nc' })
  await deadLetters('dead', 3)
  const shown = await fantail('dlq show dead --status 404')
  expect(shown.stdout).toMatch(/^MESSAGE.*\n\S+ +\S+ +permanent +404 +1 /)
  expect(shown.stderr).toBe('3 dead letters\n      3  permanent 404\n')
  const [letter] = await objects<FoundDeadLetter>('search b --letters --topic failing')
  expect(letter).toMatchObject({ queueArn: expect.stringMatching(/:dead$/), line: 'b', foundIn: 'message' })
  const told = (await fantail(`explain ${letter?.publishedMessageId} --follow --timeout 30s`)).stdout
  expect(told).toContain(`dead letter ${letter?.messageId} in ${letter?.queueArn}`)
  expect((await fantail('dlq ls')).stdout).toMatch(/\ndead +3 /)
  expect(await objects('dlq list')).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'dead', counts: expect.anything() })]),
  )
  const letters = (await fantail(`dlq export dead --sub ${sub} --json`)).stdout.trim().split('\n')
  expect(letters.map((line) => JSON.parse(line).body)).toHaveLength(3)

  expect(await objects('redrive dead --status 503 --dry-run')).toMatchObject([{ matched: 0 }])
  answers.set(hook, 200)
  const { messageId } = JSON.parse(letters[0] ?? '') as { messageId: string }
  const one = await objects<Redrive>(`redrive dead --id ${messageId} --canary 1 --watch`)
  expect(one.at(-1)).toMatchObject({ status: 'completed', moved: 1, delivered: 1, backInDlq: 0 })
  await editAndSend(JSON.parse(letters[1] ?? ''))
  const [slow] = await objects<Redrive>('redrive dead --rate 0.01/s')
  const id = slow?.id ?? ''
  expect(await objects(`redrive pause ${id}`)).toMatchObject([{ status: 'paused' }])
  expect((await fantail('redrive dead')).code).toBe(5)
  expect(await objects(`redrive rate ${id} 100/s`)).toMatchObject([{ maxMessagesPerSecond: 100 }])
  expect(await objects(`redrive resume ${id}`)).toMatchObject([{ status: 'running' }])
  const ended = await fantail(`redrive watch ${id} --timeout 30s`)
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/status +completed/) })
  expect((await fantail('redrive list')).stdout).toContain(id)
  expect(await objects('redrive list --limit 1')).toHaveLength(1)
  expect((await objects(`redrive watch ${id}`)).at(-1)).toMatchObject({ status: 'completed' })
  expect(await objects('dlq purge dead --reason expired --yes')).toEqual([{ discarded: 0 }])
})

test('a command that is done in part ends with 8', async () => {
  await objects('queues create lost')
  await subscribed('losing', await counting(404), ' --dlq lost')
  await fantail('publish losing --lines', { stdin: 'a\nb\nc' })
  const [removed] = await deadLetters('lost', 3)
  expect(await objects(`dlq rm lost ${removed?.messageId} --yes`)).toEqual([{ deleted: removed?.messageId }])
  const [slow] = await objects<Redrive>('redrive start lost --rate 0.01/s')
  // Whether its service has begun it already decides the answer.
  expect(await objects(`redrive cancel ${slow?.id}`)).toMatchObject([{ id: slow?.id }])
  const statusOf = async () => (await objects<Redrive>(`redrive get ${slow?.id}`))[0]?.status
  await waitFor(async () => (await statusOf()) === 'canceled', { what: 'the redrive to be canceled' })
  await deadLetters('lost', 2)
  const again = await fantail('redrive start lost --watch --json')
  const task = lastOf<Redrive>(again)
  expect([again.code, task]).toEqual([8, expect.objectContaining({ backInDlq: 2 })])
  expect(await objects(`redrive get ${task.id}`)).toEqual([task])
  expect((await fantail(`redrive watch ${task.id}`)).code).toBe(8)

  const [letter] = await deadLetters('lost', 2)
  const watched = await fantail(`dlq edit lost ${letter?.messageId} --body newer --yes --watch --json`)
  expect([watched.code, lastOf<Redrive>(watched)]).toEqual([8, expect.objectContaining({ backInDlq: 1 })])
  const [other] = await deadLetters('lost', 2)
  const [sent] = objectsOf(await fantail(`dlq edit lost ${other?.messageId} --body new --yes --json`))
  expect(sent).toMatchObject({ messageId: expect.any(String) })
  const isBack = async () => {
    const ids = (await objects<{ messageId: string }>('dlq show lost')).map(({ messageId }) => messageId)
    return ids.length === 2 && !ids.includes(other?.messageId ?? '')
  }
  await waitFor(isBack, { what: 'the edited letter to be dead again' })
  // From this number on, a redrive deletes the letters.
  const stdin = Array.from({ length: 1_001 }, (_, n) => `${n}`).join('\n')
  await fantail('publish losing --lines', { stdin })
  await untilLetters('lost', (count) => count > 1_001)
  const [counted] = await objects<{ matched: number }>('dlq purge lost --status 404 --dry-run')
  expect(counted?.matched).toBeGreaterThan(1_001)
  const purged = await objects<Redrive>('dlq purge lost --status 404 --yes --quiet')
  expect(purged.at(-1)).toMatchObject({ action: 'purge', status: 'completed' })
})

test.each(['publish waiting -', 'publish waiting --lines', 'verify --key whsec_AAAA', 'login', 'curve -'])(
  '`fantail %s` does not wait for stdin after its timeout',
  async (line) => {
    const words = [...line.split(' '), '--timeout', '100ms']
    const waiting = followFantail(words, { FANTAIL_URL: stack().api.url }, { keepsStdin: true })
    expect(await waiting.ended).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('not done after 100ms'),
    })
  },
)

test('filters and signatures are judged', async () => {
  const policy = 'filter test {"color":["red"]}'
  expect(await objects(`${policy} --attr color=red`)).toMatchObject([{ matched: true }])
  expect(await fantail(`${policy} --attr color=blue`)).toMatchObject({
    code: 1,
    stdout: 'does not match (MessageAttributes)\n✕ color: wanted ["red"], has "blue"\n',
  })
  expect((await fantail('filter test {"color":[{"wrong":1}]}')).code).toBe(2)

  const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
  const at = new Date()
  const headers = [
    'POST /hook HTTP/1.1',
    'webhook-id: m1',
    `webhook-timestamp: ${Math.floor(at.getTime() / 1_000)}`,
    `webhook-signature: ${new Webhook(secret).sign('m1', at, '{"a":1}')}`,
  ].join('\r\n')
  const check = (body: string) => fantail(`verify --key ${secret}`, { stdin: `${headers}\r\n\r\n${body}` })
  expect(await check('{"a":1}')).toMatchObject({ code: 0, stdout: 'the signature is right\n' })
  const request = `${headers}\r\n\r\n{"a":1}`
  expect(await objects(`verify --key ${secret}`, { stdin: request })).toEqual([{ verified: true }])
  expect(await check('{"a":2}')).toMatchObject({ code: 1, stderr: expect.stringContaining('another body') })
})

/** The URL of a receiver, the status that it answers, and how many requests have arrived. */
const answers = new Map<string, number>()
const arrived = new Map<string, number>()
let receiver: Server | undefined

async function counting(status = 200): Promise<string> {
  receiver ??= await startReceiver()
  const { port } = receiver.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/${answers.size}`
  answers.set(url, status)
  return url
}

async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}${request.url}`
    arrived.set(url, (arrived.get(url) ?? 0) + 1)
    request.resume().once('end', () => response.writeHead(answers.get(url) ?? 500).end())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return server
}

afterAll(() => {
  receiver?.close()
  receiver?.closeAllConnections()
})

/** The id of a new subscription of a new topic. */
async function subscribed(topic: string, endpoint: string, flags = ''): Promise<string> {
  await objects(`topics create ${topic}`)
  const [subscription] = await objects<Subscription>(`subs add ${topic} ${endpoint}${flags}`)
  return subscription?.id ?? ''
}

provesCommands('tests/cli/commands.test.ts')
