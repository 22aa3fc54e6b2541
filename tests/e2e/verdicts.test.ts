/** Each verdict on a lane at an endpoint that produces it, and the way out of it that its advice names. */
import { VERDICTS, type VerdictCode } from '@fantail/contracts'
import { Credentials, placeOfSubscription, shardBase } from '@fantail/store'
import { firebaseCredential, freshKey, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import {
  notification,
  publish,
  retries,
  type Subscription,
  subscribe,
} from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'

const firebase = await startReceiver()
afterAll(() => firebase.close())
const stack = useStack({
  env: { FANTAIL_FCM_URL: firebase.url, FANTAIL_FCM_TOKEN_URL: `${firebase.url}/token` },
})
const receiver = useReceiver()

interface Judged extends Subscription {
  verdict: { code: VerdictCode; sentence: string; facts: Record<string, unknown> }
}

/** Its retries come so late that only an operator brings them forward. */
const LATE = { deliveryPolicy: retries(3, { minDelayTarget: 600, maxDelayTarget: 600 }) }

const hook = (path: string) => `${receiver().url}/${path}`
const judged = (id: string) => stack().client.get<Judged>(`/v1/subscriptions/${id}`)
const act = (id: string, action: string, body: object = {}) =>
  stack().client.post(`/v1/subscriptions/${id}/${action}`, body)

async function publishAll(topic: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => publish(stack(), topic, `number ${n}`)))
}

interface Case {
  /** Brings about the verdict. Returns the subscription's id, and the advised way out. */
  begin(topic: string): Promise<{ id: string; mend: () => Promise<unknown>; also?: (lane: Judged) => void }>
  topic?: string
}

/** An endpoint that answers 503 until it is repaired. */
function brokenHook(path: string) {
  let status = 503
  receiver().respond(`/${path}`, () => ({ status }))
  return () => {
    status = 200
  }
}

/** Makes the waiting deliveries of a lane older. */
async function ageWaiting(id: string, ms: number): Promise<void> {
  const { shard = -1 } = placeOfSubscription(id) ?? {}
  const key = freshKey(shardBase(shard), id)
  const { connection } = stack()
  for (const member of await connection.zrangeBuffer(key, '0', '-1'))
    await connection.zincrby(key, -ms, member)
}

/** A device of an application of its own. `refuse`: Firebase refuses what is sent to it. `accept` ends that. */
async function subscribeDevice(project: string) {
  const answer = (status: number, body: object) =>
    firebase.respond(`/v1/projects/${project}/messages:send`, { status, body: JSON.stringify(body) })
  firebase.respond('/token', {
    status: 200,
    body: JSON.stringify({ access_token: 'at', expires_in: 3_600 }),
  })
  const path = `/v1/platform-applications/GCM/${project}`
  const { PlatformCredential: credential } = firebaseCredential(project)
  const { arn: application } = await stack().client.put<{ arn: string }>(path, { credential })
  const device = await stack().client.post<{ id: string; arn: string }>(`${path}/endpoints`, { token: 'old' })
  const { id } = await subscribe(stack(), project, { endpoint: device.arn })
  const refuse = (status: number, errorCode: string) =>
    answer(status, { error: { details: [{ errorCode }] } })
  const accept = () => answer(200, { name: 'sent' })
  const replaceToken = () =>
    stack().client.call('PATCH', `${path}/endpoints/${device.id}`, { body: { token: 'new', enabled: true } })
  return { id, application, refuse, accept, replaceToken }
}

const CASES: Record<VerdictCode, Case> = {
  gone: {
    async begin(topic) {
      let status = 410
      receiver().respond(`/${topic}`, () => ({ status }))
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic) })
      await publishAll(topic, 5)
      // Each 410 pauses the subscription before its delivery is back in the lane.
      await waitFor(async () => (await judged(id)).lane.waiting === 5, { what: 'every answer' })
      const mend = () => {
        status = 200
        return act(id, 'resume')
      }
      return { id, mend }
    },
  },
  paused: {
    async begin(topic) {
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic) })
      await act(id, 'pause')
      await publish(stack(), topic, 'x')
      return { id, mend: () => act(id, 'resume') }
    },
  },
  pending: {
    async begin(topic) {
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic), confirmation: 'handshake' })
      const mend = async () => {
        await receiver().waitForRequests(1, `/${topic}`)
        await act(id, 'send-confirmation')
        const asked = (await receiver().waitForRequests(2, `/${topic}`)).at(-1)
        await act(id, 'confirm', { token: asked && notification(asked).Token })
      }
      return { id, mend }
    },
  },
  misconfigured: {
    async begin(topic) {
      const { id, application, refuse, accept } = await subscribeDevice(topic)
      refuse(401, 'UNAUTHENTICATED')
      await publish(stack(), topic, 'x')
      const mend = () => {
        accept()
        // Takes the place of the probe, which comes within a minute.
        return new Credentials(stack().connection).worked(`push:${application}`)
      }
      return { id, mend }
    },
  },
  noToken: {
    async begin(topic) {
      let status = 503
      const body = JSON.stringify({ access_token: 'at' })
      receiver().respond(`/${topic}-token`, () => ({ status, body }))
      const oauth = { tokenUrl: hook(`${topic}-token`), clientId: topic, clientSecret: 'x' }
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic), outbound: { oauth } })
      await publish(stack(), topic, 'x')
      const mend = async () => {
        status = 200
        const prefix = 'ft:{credentials}:broken:oauth:'
        // Takes the place of the probe, which comes within a minute, when no failure holds any more.
        const probed = async () => {
          for (const key of await stack().connection.keys(`${prefix}*`))
            await new Credentials(stack().connection).worked(`oauth:${key.slice(prefix.length)}`)
          const { lane } = await judged(id)
          return lane.waiting + lane.inFlight === 0
        }
        await waitFor(probed, { what: 'a token to be given' })
      }
      return { id, mend }
    },
  },
  endpointDisabled: {
    async begin(topic) {
      const { id, refuse, accept, replaceToken } = await subscribeDevice(topic)
      refuse(404, 'UNREGISTERED')
      await publish(stack(), topic, 'x')
      const mend = async () => {
        accept()
        await replaceToken()
        await publish(stack(), topic, 'x')
      }
      return { id, mend }
    },
  },
  dlqMissing: {
    async begin(topic) {
      receiver().respond(`/${topic}`, { status: 404 })
      const queue = `${topic}-dead`
      const redrivePolicy = { deadLetterTargetArn: queue }
      await stack().client.put(`/v1/queues/${queue}`)
      const { id } = await subscribe(stack(), topic, {
        endpoint: hook(topic),
        redrivePolicy,
      })
      await stack().client.call('DELETE', `/v1/queues/${queue}`)
      await publish(stack(), topic, 'x')
      return { id, mend: () => stack().client.put(`/v1/queues/${queue}`) }
    },
  },
  queueMissing: {
    async begin(topic) {
      await stack().client.put(`/v1/queues/${topic}`)
      const { id } = await subscribe(stack(), topic, { endpoint: topic, protocol: 'sqs' })
      await stack().client.call('DELETE', `/v1/queues/${topic}`)
      await publish(stack(), topic, 'x')
      const mend = async () => {
        await stack().client.put(`/v1/queues/${topic}`)
        await publish(stack(), topic, 'x')
      }
      return { id, mend }
    },
  },
  queueRefuses: {
    async begin(topic) {
      await stack().client.put(`/v1/queues/${topic}`, { maximumMessageBytes: 1_024 })
      const { id } = await subscribe(stack(), topic, { endpoint: topic, protocol: 'sqs' })
      await publish(stack(), topic, 'x'.repeat(2_000))
      const mend = async () => {
        await stack().client.call('PATCH', `/v1/queues/${topic}`, { body: { maximumMessageBytes: 10_000 } })
        await waitFor(async () => {
          await publish(stack(), topic, 'x'.repeat(2_000))
          return (await judged(id)).lane.lastSuccessAt
        })
      }
      return { id, mend }
    },
  },
  quarantined: {
    async begin(topic) {
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic) })
      await act(id, 'pause')
      await publish(stack(), topic, 'x')
      await waitFor(async () => (await judged(id)).lane.waiting === 1)
      const { connection, client } = stack()
      // The stored text is cut off, so it is no JSON any more.
      const { shard = -1 } = placeOfSubscription(id) ?? {}
      for (const key of await connection.keysBuffer(`${shardBase(shard)}msg:*`))
        if (String(await connection.hget(key, 'b')).includes(topic)) await connection.hset(key, 'b', '{')
      await act(id, 'resume')
      const mend = async () => {
        const { entries } = await client.get<{ entries: { id: string; subscriptionId: string }[] }>(
          '/v1/quarantine',
        )
        for (const entry of entries)
          if (entry.subscriptionId === id) await client.call('DELETE', `/v1/quarantine/${entry.id}`)
      }
      return { id, mend }
    },
  },
  circuitOpen: {
    async begin(topic) {
      const repair = brokenHook(topic)
      const circuitBreaker = { failures: 2, probeSeconds: 600 }
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic), circuitBreaker, ...LATE })
      await publishAll(topic, 4)
      const mend = async () => {
        repair()
        expect(await act(id, 'test')).toMatchObject({ statusCode: 200 })
        await act(id, 'retry')
      }
      return { id, mend }
    },
  },
  failing: {
    async begin(topic) {
      const repair = brokenHook(topic)
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic), ...LATE })
      await publishAll(topic, 5)
      const mend = async () => {
        repair()
        expect(await act(id, 'test')).toMatchObject({ statusCode: 200 })
        await act(id, 'retry')
      }
      return { id, mend }
    },
  },
  hung: {
    async begin(topic) {
      const repaired = Promise.withResolvers<void>()
      receiver().respond(`/${topic}`, { until: repaired.promise })
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic) })
      await publish(stack(), topic, 'x')
      return { id, mend: async () => repaired.resolve() }
    },
  },
  groupBlocked: {
    topic: 'verdict-group.fifo',
    async begin(topic) {
      let isBroken = true
      receiver().respond(`/${topic}`, ({ text }) => ({
        status: isBroken && text.includes('bad') ? 503 : 200,
      }))
      const settings = { contentBasedDeduplication: true }
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic), ...LATE }, settings)
      const send = (message: string, groupId: string) =>
        stack().client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, { message, groupId })
      const { messageId } = await send('bad', 'a')
      for (const [message, group] of [
        ['next', 'a'],
        ['other', 'b'],
      ] as const)
        await send(message, group)
      const mend = async () => {
        isBroken = false
        await act(id, 'retry')
      }
      const also = ({ verdict }: Judged) => {
        expect(verdict.facts).toMatchObject({ blockedGroup: 'a', blockingMessageId: messageId })
        expect(verdict.sentence).toContain(`Group a waits for its message ${messageId}`)
      }
      return { id, mend, also }
    },
  },
  tooSlowIn: {
    async begin(topic) {
      const throttlePolicy = { maxReceivesPerSecond: 1 }
      const endpoint = hook(topic)
      const { id } = await subscribe(stack(), topic, { endpoint, deliveryPolicy: { throttlePolicy } })
      await act(id, 'pause')
      await publishAll(topic, 20)
      await waitFor(async () => (await judged(id)).lane.waiting === 20)
      await ageWaiting(id, 120_000)
      await publishAll(topic, 80)
      await waitFor(async () => (await judged(id)).lane.waiting === 100)
      await act(id, 'resume')
      const mend = () =>
        stack().client.call('PATCH', `/v1/subscriptions/${id}`, { body: { deliveryPolicy: null } })
      return { id, mend }
    },
  },
  throttled: {
    async begin(topic) {
      const throttlePolicy = { maxReceivesPerSecond: 2 }
      const endpoint = hook(topic)
      const { id } = await subscribe(stack(), topic, { endpoint, deliveryPolicy: { throttlePolicy } })
      await publishAll(topic, 60)
      const mend = () =>
        stack().client.call('PATCH', `/v1/subscriptions/${id}`, { body: { deliveryPolicy: null } })
      // The throttle alone decides in the first seconds, whatever the first results show.
      const also = ({ lane }: Judged) => expect(lane.drainSeconds).toBeCloseTo(lane.waiting / 2, 1)
      return { id, mend, also }
    },
  },
  catchingUp: {
    async begin(topic) {
      receiver().respond(`/${topic}`, { delayMs: 400 })
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic), maxInFlight: 1 })
      await act(id, 'pause')
      await publishAll(topic, 10)
      await waitFor(async () => ((await judged(id)).lane.oldestWaitingSeconds ?? 0) >= 5)
      await act(id, 'resume')
      return { id, mend: async () => undefined }
    },
  },
  undispatched: {
    async begin(topic) {
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic) })
      stack().worker(0).signal('SIGSTOP')
      await publish(stack(), topic, 'x')
      return { id, mend: async () => stack().worker(0).signal('SIGCONT') }
    },
  },
  fine: {
    async begin(topic) {
      const { id } = await subscribe(stack(), topic, { endpoint: hook(topic) })
      await publish(stack(), topic, 'x')
      return { id, mend: async () => undefined }
    },
  },
}

async function check(code: VerdictCode, { begin, topic }: Case): Promise<void> {
  const { id, mend, also } = await begin(topic ?? `verdict-${code.toLowerCase()}`)
  const found = await waitFor(
    async () => {
      const lane = await judged(id)
      return lane.verdict.code === code ? lane : undefined
    },
    { what: `the verdict ${code}` },
  )
  also?.(found)
  await mend()
  await waitFor(
    async () => {
      const { lane, verdict } = await judged(id)
      return verdict.code === 'fine' && lane.waiting + lane.inFlight === 0
    },
    { what: `${code} to end`, timeoutMs: 30_000 },
  )
}

const { undispatched, ...others } = CASES
test.concurrent.each(Object.entries(others))('%s holds, and its advice ends it', (code, one) =>
  check(code as VerdictCode, one),
)

// All lanes wait for the worker meanwhile.
test('undispatched holds, and its advice ends it', () => check('undispatched', undispatched))

test.concurrent('an endpoint that answers after 2.5 s does not hang', async () => {
  receiver().respond('/verdict-late', { delayMs: 2_500 })
  const { id } = await subscribe(stack(), 'verdict-late', { endpoint: hook('verdict-late') })
  await publishAll('verdict-late', 6)
  const codes = new Set<VerdictCode>()
  await waitFor(
    async () => {
      const { lane, verdict } = await judged(id)
      codes.add(verdict.code)
      return lane.lastSuccessAt !== null && lane.waiting + lane.inFlight === 0
    },
    { intervalMs: 100, timeoutMs: 30_000 },
  )
  expect([...codes].filter((code) => code !== 'fine' && code !== 'catchingUp')).toEqual([])
})

test.concurrent('a message that is set aside is dead-lettered once, and its group goes on', async () => {
  const topic = 'verdict-aside.fifo'
  const arrived: string[] = []
  receiver().respond(`/${topic}`, ({ text }) => {
    arrived.push(text)
    return { status: text.includes('bad') ? 503 : 200 }
  })
  const settings = { contentBasedDeduplication: true }
  const endpoint = hook(topic)
  const { id } = await subscribe(stack(), topic, { endpoint, rawMessageDelivery: true, ...LATE }, settings)
  const send = (message: string) =>
    stack().client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, { message, groupId: 'a' })
  const { messageId } = await send('bad')
  await send('next')
  await waitFor(async () => (await judged(id)).lane.waiting === 2 && arrived.length === 1)
  const aside = await stack().client.post<{ queueArn: string }>(`/v1/subscriptions/${id}/set-aside`, {
    messageId,
  })
  await waitFor(() => arrived.includes('next'), { what: 'the next message of the group' })
  const queue = aside.queueArn.split(':').at(-1)
  const letters = await stack().client.get<{ messages: { deadLetter: object }[] }>(
    `/v1/queues/${queue}/messages`,
  )
  expect(letters.messages.map(({ deadLetter }) => deadLetter)).toMatchObject([
    { reason: 'setAside', statusCode: 503, publishedMessageId: messageId },
  ])
  expect(arrived).toEqual(['bad', 'next'])
})

test('docs/verdicts.md has a row for every verdict', () => {
  const rows = [...textOf('docs/verdicts.md').matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)]
  expect(rows.map(([, code, rule]) => [code, rule?.trim()])).toEqual(Object.entries(VERDICTS))
  expect(Object.keys(CASES).sort()).toEqual(Object.keys(VERDICTS).sort())
})
