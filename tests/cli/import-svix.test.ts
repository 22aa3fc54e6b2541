/** A set-up at Svix comes over by the documents alone, and receivers with Svix's library see no difference. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subscription } from '@fantail/client/api'
import { type ReceivedRequest, waitFor } from '@fantail/test-kit'
import { type EndpointOut, type ListResponseEndpointOut, Svix, Webhook } from 'svix'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import { useStack } from '../harness/services/stack.ts'
import { type SvixStandIn, startSvix } from '../harness/svix/svix-stand-in.ts'

const TOKEN = 'testsk_0123456789'
const CUSTOMERS = ['acme', 'globex', 'hooli', 'initech', 'umbrella']
const stack = useStack()
const receiver = useReceiver()
let home: string
let standIn: SvixStandIn
let svix: Svix
let made: Made[]

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'fantail-svix-'))
  standIn = await startSvix(TOKEN)
  svix = new Svix(TOKEN, { serverUrl: standIn.url })
})

afterAll(async () => {
  standIn.close()
  await rm(home, { recursive: true })
})

async function fantail(words: string, env: Record<string, string> = { SVIX_AUTH_TOKEN: TOKEN }) {
  const set = { FANTAIL_URL: stack().api.url, XDG_CONFIG_HOME: home, ...env }
  const from = words.startsWith('import') ? ['--from', standIn.url] : []
  return callFantail([...words.split(' '), ...from], { env: set })
}

function objectsOf<T>(stdout: string): T[] {
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
}

interface Made {
  path: string
  secret: string
  disabled: boolean
}

/** Five customers with ten endpoints each. Their settings differ by the number of the endpoint. */
async function setUp(): Promise<Made[]> {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', required: ['id'] }
  await svix.eventType.create({ name: 'order.paid', description: 'Paid.', schemas: { '1': schema } })
  await svix.eventType.create({ name: 'order.sent', description: '', schemas: { '1': { typ: 'x' } } })
  await svix.eventType.create({ name: 'old', description: 'Gone.', archived: true })
  const made: Made[] = []
  for (const customer of CUSTOMERS) {
    const app = await svix.application.create({
      name: `${customer} Inc`,
      uid: customer,
      metadata: { plan: 'gold' },
    })
    for (let n = 0; n < 10; n++) {
      const path = `/${customer}/${n}`
      // Servers of Svix make secrets of 24 bytes, and take up to 75.
      const bytes = n === 1 ? 25 : n === 2 ? 75 : 24
      const given = `whsec_${randomBytes(bytes).toString('base64')}`
      const endpoint = await svix.endpoint.create(app.id, {
        url: receiver().url + path,
        uid: `${customer}-${n}`,
        description: `Endpoint ${n}`,
        secret: given,
        metadata: { owner: 'ops' },
        ...(n === 3 && { eventTypes: ['order.paid'] }),
        ...(n === 4 && { channels: ['eu', 'us'] }),
        ...(n === 5 && { throttleRate: 50 }),
        disabled: n === 6,
      })
      if (n === 7) await svix.endpoint.setHeaders(app.id, endpoint.id, { headers: { 'X-Route': customer } })
      made.push({ path, secret: (await svix.endpoint.getSecret(app.id, endpoint.id)).key, disabled: n === 6 })
    }
  }
  return made
}

test('fifty endpoints come over with their secrets, and receivers with Svix’s library change nothing', async () => {
  made = await setUp()
  const [first] = (await svix.application.list()).data
  const [endpoint] = (await svix.endpoint.list(first?.id ?? '')).data
  const before = standIn.changes()

  // The plan lists each loss, and changes nothing.
  const plan = await fantail('import svix --plan --json')
  expect([plan.code, plan.stderr]).toEqual([9, expect.stringContaining('5 topics, 50 subscriptions')])
  const texts = objectsOf<{ text?: string; objects?: string[] }>(plan.stdout)
  const objects = (text: RegExp) => texts.find((one) => text.test(one.text ?? ''))?.objects
  expect(objects(/^archived event types/)).toEqual(['old'])
  expect(objects(/^schemas, because schema.typ/)).toEqual(['order.sent'])
  expect(objects(/^disabled endpoints/)).toHaveLength(5)
  expect(objects(/^channels are the attribute/)).toHaveLength(5)
  expect(await stack().client.get('/v1/topics')).toMatchObject({ topics: [] })

  const done = await fantail('import svix --yes')
  expect([done.code, done.stderr]).toEqual([0, expect.any(String)])
  for (const { secret } of made)
    for (const text of [plan.stdout, done.stdout, done.stderr, stack().logText()])
      expect(text).not.toContain(secret)
  expect(standIn.changes()).toBe(before)

  // A second import changes nothing.
  expect(await fantail('import svix --plan')).toMatchObject({ code: 0 })

  const { subscriptions } = await allSubscriptions()
  expect(subscriptions).toHaveLength(50)
  expect(new Set(subscriptions.map(({ status }) => status))).toEqual(new Set(['paused']))
  const one = (n: number) =>
    subscriptions.find(({ endpoint: address }) => address.endsWith(`/acme/${n}`)) as Subscription
  expect(one(0)).toMatchObject({
    name: 'Endpoint 0',
    metadata: { svixUid: 'acme-0', svixState: 'enabled', owner: 'ops' },
  })
  expect(one(3).eventTypes).toEqual(['order.paid'])
  expect(one(4).filterPolicy).toEqual({ channels: ['eu', 'us'] })
  expect(one(5).effectiveDeliveryPolicy.throttlePolicy).toEqual({ maxReceivesPerSecond: 50 })
  expect(await stack().client.get('/v1/topics/acme-events')).toMatchObject({
    displayName: 'acme Inc',
    tags: { plan: 'gold' },
  })
  expect(await stack().client.get('/v1/topics/acme-events/event-types/order.paid')).toMatchObject({
    description: 'Paid.',
    schema: { type: 'object', required: ['id'] },
  })

  // Messages wait, and a resume sends each once, in a form that Svix's library accepts by Svix's headers alone.
  for (const customer of CUSTOMERS)
    for (const [eventType, channels] of [
      ['order.paid', ['us']],
      ['order.sent', []],
    ] as const)
      await stack().client.post(`/v1/topics/${customer}-events/messages`, {
        eventType,
        message: { customer, eventType },
        attributes: { channels },
      })
  const active = subscriptions.filter(({ metadata }) => !metadata.svixUid?.endsWith('-6'))
  expect(receiver().requests).toEqual([])
  for (const { id } of active) await stack().client.post(`/v1/subscriptions/${id}/resume`)
  const sentTo = (n: number) => (n === 3 || n === 4 ? 1 : 2)
  const expected = made.filter(({ disabled }) => !disabled).map(({ path }) => sentTo(Number(path.at(-1))))
  await receiver().waitForRequests(expected.reduce((sum, count) => sum + count, 0))
  for (const { path, secret, disabled } of made) {
    const requests = receiver().requestsTo(path)
    expect([path, requests.length]).toEqual([path, disabled ? 0 : sentTo(Number(path.at(-1)))])
    for (const { text, headers } of requests) {
      const own = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('svix-')))
      expect(() => new Webhook(secret).verify(text, own as Record<string, string>)).not.toThrow()
      expect(JSON.parse(text)).toMatchObject({ customer: path.split('/')[1] })
      expect(headers['x-route']).toBe(path.endsWith('7') ? path.split('/')[1] : undefined)
    }
  }

  // A secret that is replaced at Svix comes with the next import. The one before signs for a day.
  await svix.endpoint.rotateSecret(first?.id ?? '', endpoint?.id ?? '', {})
  expect(objectsOf((await fantail('import svix --yes --json')).stdout).at(-1)).toMatchObject({
    kind: 'secrets',
    name: endpoint?.url,
  })
  const { webhookKeys } = await stack().client.get<{ webhookKeys: unknown[] }>(
    `/v1/subscriptions/${one(0).id}/webhook-keys`,
  )
  expect(webhookKeys).toHaveLength(2)
  const rotated = await svix.endpoint.getSecret(first?.id ?? '', endpoint?.id ?? '')
  made = made.map((one) => (endpoint?.url.endsWith(one.path) ? { ...one, secret: rotated.key } : one))
})

test('customers move over and back, and each receiver gets each message once', async () => {
  const applications = (await svix.application.list()).data
  const published: { customer: string; n: number; eventType: string }[] = []
  const payload = (customer: string, n: number) => ({ customer, n, text: 'Grüße', price: 1.5 })
  /** Publishes to every customer at one side. Returns the number in the messages. */
  const publish = async (side: 'svix' | 'fantail') => {
    const n = published.length
    for (const { id, uid } of applications) {
      const customer = uid ?? ''
      const eventType = n % 2 ? 'order.sent' : 'order.paid'
      published.push({ customer, n, eventType })
      const message = payload(customer, n)
      if (side === 'svix') await svix.message.create(id, { eventType, payload: message, channels: ['eu'] })
      else
        await stack().client.post(`/v1/topics/${customer}-events/messages`, {
          eventType,
          message,
          attributes: { channels: ['eu'] },
        })
    }
    return n
  }
  const setDisabled = async (disabled: boolean) => {
    for (const { id } of applications)
      for (const endpoint of await endpointsOf(id))
        if (!endpoint.uid?.endsWith('-6')) await svix.endpoint.patch(id, endpoint.id, { disabled })
  }
  const act = async (verb: 'pause' | 'resume' | 'retry') =>
    expect(await fantail(`lanes ${verb} --metadata svixState=enabled --yes`)).toMatchObject({ code: 0 })
  const waiting = async () => {
    const { subscriptions } = await allSubscriptions()
    return subscriptions
      .filter(({ metadata }) => metadata.svixState === 'enabled')
      .reduce((sum, { lane }) => sum + lane.waiting + lane.inFlight, 0)
  }
  /** Each endpoint with each message of its customer, and whether it must get the message. */
  const expected = () =>
    made.flatMap(({ path, secret, disabled }) =>
      published
        .filter(({ customer }) => path.split('/')[1] === customer)
        .map(({ n, eventType }) => {
          const isChosen = !path.endsWith('3') || eventType === 'order.paid'
          return { path, secret, n, wanted: !disabled && isChosen }
        }),
    )
  const answeredOf = (path: string, n: number) =>
    requestsOf(path, n).filter(({ answered }) => answered === 200)
  const lacking = () => expected().filter(({ path, n, wanted }) => wanted && answeredOf(path, n).length === 0)
  await act('pause')
  receiver().clear()

  // Both sides send the same.
  const [there, here] = [await publish('svix'), await publish('fantail')]
  await standIn.delivered()
  await waitFor(async () => (await waiting()) > 0)
  await act('resume')
  await waitFor(() => lacking().length === 0)
  for (const { path, secret } of made.filter(({ disabled }) => !disabled)) {
    const [one, other] = [requestOf(path, there), requestOf(path, here)]
    if (path.endsWith('3')) continue
    expect([path, seen(one, secret, there)]).toEqual([path, seen(other, secret, here)])
  }

  // The publisher moves first, and what is under way at Svix arrives.
  await act('pause')
  await publish('svix')
  await publish('fantail')
  await standIn.delivered()
  await act('resume')
  await setDisabled(true)
  await publish('fantail')

  // Back: Svix is on before the publisher returns, and what waits here is delivered before the pause.
  receiver().respond('/acme/0', (_, n) => ({ status: n <= 2 ? 503 : 200 }))
  await publish('fantail')
  await waitFor(async () => (await waiting()) > 0)
  await setDisabled(false)
  receiver().respond('/acme/0', { status: 200 })
  await publish('svix')
  await standIn.delivered()
  await act('retry')
  await waitFor(async () => lacking().length === 0 && (await waiting()) === 0)
  await act('pause')
  await publish('svix')
  await standIn.delivered()

  const all = expected()
  for (const { path, secret, n, wanted } of all) {
    const got = answeredOf(path, n)
    expect([path, n, got.length]).toEqual([path, n, wanted ? 1 : 0])
    for (const request of got) verify(secret, request)
  }
  const due = all.filter(({ wanted }) => wanted).length
  console.log(
    `${published.length} messages, ${due} deliveries, ${receiver().requests.length} requests, 0 lost`,
  )
}, 120_000)

const requestsOf = (path: string, n: number) =>
  receiver()
    .requestsTo(path)
    .filter(({ text }) => JSON.parse(text).n === n)
const requestOf = (path: string, n: number) => requestsOf(path, n)[0] as ReceivedRequest

function verify(secret: string, { text, headers }: ReceivedRequest): void {
  new Webhook(secret).verify(text, headers as Record<string, string>)
}

/** The part of a request that must be the same from both sides. */
function seen(request: ReceivedRequest, secret: string, n: number) {
  verify(secret, request)
  const names = ['content-type', 'x-route', 'svix-id', 'svix-timestamp', 'svix-signature']
  const has = names.filter((name) => request.headers[name] !== undefined)
  return { has, type: request.headers['content-type'], text: request.text.replace(`"n":${n},`, '') }
}

async function endpointsOf(application: string) {
  const found: EndpointOut[] = []
  let iterator: string | null = null
  for (;;) {
    const page: ListResponseEndpointOut = await svix.endpoint.list(application, {
      ...(iterator && { iterator }),
    })
    found.push(...page.data)
    if (page.done) return found
    iterator = page.iterator
  }
}

async function allSubscriptions(): Promise<{ subscriptions: Subscription[] }> {
  return stack().client.get('/v1/subscriptions?limit=100')
}

test('an endpoint that is subscribed here in another way keeps back no other', async () => {
  const [app] = (await svix.application.list()).data
  const url = `${receiver().url}/twice`
  await stack().client.post('/v1/topics/acme-events/subscriptions', { endpoint: url })
  await svix.endpoint.create(app?.id ?? '', { url, description: 'Twice' })
  await svix.endpoint.create(app?.id ?? '', { url: `${receiver().url}/new`, description: 'New' })
  const ended = await fantail('import svix --yes')
  expect([ended.code, ended.stdout]).toEqual([8, expect.stringContaining('secrets http')])
  expect((await allSubscriptions()).subscriptions).toHaveLength(52)
  const [document] = objectsOf<{ topics: unknown[] }>((await fantail('import svix --document --json')).stdout)
  expect(document?.topics).toHaveLength(5)
})

test('a wrong or missing token changes nothing', async () => {
  expect(await fantail('import svix', {})).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('SVIX_AUTH_TOKEN'),
  })
  expect(await fantail('import svix', { SVIX_AUTH_TOKEN: 'testsk_other' })).toMatchObject({
    code: 4,
    stderr: expect.not.stringContaining('testsk_other'),
  })
})

provesCommands('tests/cli/import-svix.test.ts')
