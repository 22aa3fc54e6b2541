/** `fantail listen` as a process: the requests that it forwards, and what remains after it ends. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyWebhook } from '@fantail/client'
import { freePort, type Receiver, startReceiver, waitFor, withoutToken } from '@fantail/test-kit'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import { followFantail, type RunningFantail } from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

/** A multiple of 300. */
const MESSAGES = Number(process.env.FANTAIL_LISTEN_MESSAGES ?? 600)

// After a restart the server must have the same address.
const env = { FANTAIL_PORT: String(await freePort()) }
const stack = useStack({ redrive: true, redis: { appendfsync: 'always' }, env })
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  return () => receiver.close()
})

const running: RunningFantail[] = []
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill('SIGKILL')
    await ended
  }
})

/** Starts `fantail listen`, and waits until it listens or has ended. */
async function listen(words: string[]) {
  const process = followFantail(['listen', ...words, '--json'], { FANTAIL_URL: stack().api.url })
  running.push(process)
  let isOver = false
  void process.ended.then(() => {
    isOver = true
  })
  const found = () => /as queue (listen-[0-9a-f]{8})/.exec(process.so.stderr)
  await waitFor(() => isOver || found() !== null, { what: `listen, not ${JSON.stringify(process.so)}` })
  return { ...process, queue: found()?.[1] ?? '' }
}

async function aTopic(name: string): Promise<void> {
  await stack().client.put(`/v1/topics/${name}`, {})
}

const publish = (topic: string, body: object) =>
  stack().client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, body)

const queueExists = async (queue: string) => {
  const { status } = await fetch(`${stack().api.url}/v1/queues/${queue}`)
  return status === 200
}

const subscriptionsOf = async (topic: string) =>
  (await stack().client.get<{ subscriptions: object[] }>(`/v1/topics/${topic}/subscriptions`)).subscriptions

test('messages are forwarded with the headers of a delivery, and Ctrl-C leaves nothing behind', async () => {
  await aTopic('heard')
  const { kill, ended, queue } = await listen([
    'heard',
    '--forward-to',
    `${receiver.url.replace('http://', '')}/hooks`,
    '--header',
    'X-Env: dev',
    '--filter',
    '{"event":["made"]}',
  ])
  await publish('heard', { message: 'no', attributes: { event: 'gone' } })
  const { messageId } = await publish('heard', { message: 'yes', attributes: { event: 'made' } })
  const [request] = await receiver.waitForRequests(1, '/hooks')
  expect(request).toMatchObject({
    headers: {
      'x-amz-sns-message-type': 'Notification',
      'x-amz-sns-message-id': messageId,
      'content-type': 'application/json',
      'x-env': 'dev',
    },
  })
  expect(JSON.parse(request?.text ?? '')).toMatchObject({ Type: 'Notification', Message: 'yes' })
  expect(await queueExists(queue)).toBe(true)
  kill('SIGINT')
  const { code, stdout } = await ended
  expect(code).toBe(130)
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ messageId, attempt: 1, statusCode: 200, error: null }])
  expect([await queueExists(queue), await subscriptionsOf('heard')]).toEqual([false, []])
})

test('a message that is not accepted comes again, and the bare message is sent with --raw', async () => {
  await aTopic('stubborn')
  receiver.respond('/stubborn', (_, n) => ({ status: n === 1 ? 500 : 204 }))
  await listen(['stubborn', '--forward-to', `${receiver.url}/stubborn`, '--raw'])
  await publish('stubborn', { message: { order: 7 } })
  const [first, second] = await receiver.waitForRequests(2, '/stubborn')
  expect([first?.text, second?.text]).toEqual(['{"order":7}', '{"order":7}'])
  expect(second?.headers['x-amz-sns-rawdelivery']).toBe('true')
})

test.each([false, true])('--as sends what the subscription gets, except its token: raw %j', async (raw) => {
  const topic = `copied-${raw}`
  await aTopic(topic)
  const { id } = await stack().client.post<{ id: string }>(`/v1/topics/${topic}/subscriptions`, {
    endpoint: `${receiver.url}/${topic}/real`,
    rawMessageDelivery: raw,
    filterPolicy: { kind: ['wanted'] },
  })
  await stack().client.post(`/v1/subscriptions/${id}/webhook-keys`, {})
  await listen(['--as', id, '--forward-to', `${receiver.url}/${topic}/copy`])
  await publish(topic, { message: 'other', attributes: { kind: 'unwanted' } })
  await publish(topic, {
    message: { order: 7, text: 'é "UnsubscribeURL" : "x' },
    attributes: { kind: 'wanted' },
  })
  const [real] = await receiver.waitForRequests(1, `/${topic}/real`)
  const [copy] = await receiver.waitForRequests(1, `/${topic}/copy`)
  // Only the subscriber gets the token that unsubscribes without a key.
  expect(copy?.text).toBe(withoutToken(real?.text))
  expect(copy?.text).not.toContain('&Token=')
  const comparable = ({ headers }: { headers: object } = { headers: {} }) => ({
    ...headers,
    'content-length': String(Buffer.byteLength(copy?.text ?? '')),
    'webhook-timestamp': expect.stringMatching(/^\d+$/),
    'webhook-signature': expect.stringMatching(/^v1,/),
  })
  expect(copy?.headers).toEqual(comparable(real))
  const { stdout } = await callFantail(['listen', '--print-secret'], {
    env: { FANTAIL_URL: stack().api.url },
  })
  const verified = await verifyWebhook(
    new Request(receiver.url, { method: 'POST', headers: copy?.headers as never, body: copy?.text ?? '' }),
    {
      keys: [stdout.trim()],
    },
  )
  expect(verified).toMatchObject({ message: expect.stringContaining('"order":7') })
})

test('--as asks for the headers whose values are secret, also for that of an access token', async () => {
  await aTopic('secret')
  const oauth = { tokenUrl: `${receiver.url}/token`, clientId: 'c', clientSecret: 's' }
  const { id } = await stack().client.post<{ id: string }>('/v1/topics/secret/subscriptions', {
    endpoint: `${receiver.url}/secret`,
    outbound: { headers: { 'X-Api-Key': 'k' }, oauth },
  })
  const { so } = await listen(['--as', id, '--forward-to', `${receiver.url}/copy`])
  expect(so.stderr).toContain('the values of X-Api-Key, Authorization are secret')
})

test('requests are recorded, and replayed with signatures that hold', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-recorded-'))
  const env = { FANTAIL_URL: stack().api.url }
  try {
    await aTopic('recorded')
    const { kill, ended } = await listen([
      'recorded',
      '--forward-to',
      `${receiver.url}/recorded?a=b`,
      '--record',
      folder,
    ])
    for (const message of ['first', { second: 'é\r\n\r\n' }]) await publish('recorded', { message })
    const live = await receiver.waitForRequests(2, '/recorded')
    kill('SIGINT')
    await ended
    const files = (await readdir(folder)).sort()
    expect(files).toHaveLength(2)
    const { stdout: printed } = await callFantail(['listen', '--print-secret', '--json'], { env })
    const { secret } = JSON.parse(printed) as { secret: string }
    const file = await readFile(join(folder, files[1] ?? ''), 'utf8')
    const verified = await callFantail(['verify', '--key', secret], { env, stdin: file })
    expect([verified.code, file]).toEqual([0, expect.stringMatching(/^POST \/recorded\?a=b HTTP\/1.1\r\n/)])

    const words = ['replay', folder, '--to', `${receiver.url}/replayed`, '--json']
    const replayed = await callFantail(words, { env })
    expect(replayed.code).toBe(0)
    const again = receiver.requestsTo('/replayed')
    expect(again.map(({ text }) => text)).toEqual(live.map(({ text }) => text))
    for (const { headers, text: body } of again) await verifyWebhook({ headers, body }, { keys: [secret] })
    receiver.respond('/refused', (_, n) => ({ status: n === 1 ? 500 : 204 }))
    const partly = await callFantail(['replay', folder, '--to', `${receiver.url}/refused`], { env })
    expect(partly).toMatchObject({ code: 8, stderr: expect.stringContaining('1 of 2 requests') })
    expect((await callFantail(['replay', `${folder}/none`, '--to', 'localhost:1'], { env })).code).toBe(3)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('after a crash the queue stays for --keep, and several topics share it', async () => {
  await Promise.all(['left', 'right'].map(aTopic))
  const { kill, ended, queue } = await listen([
    'left,right',
    '--forward-to',
    `${receiver.url}/both`,
    '--keep',
    '2h',
  ])
  kill('SIGKILL')
  await ended
  const { leaseSeconds } = await stack().client.get<{ leaseSeconds: number }>(`/v1/queues/${queue}`)
  expect(leaseSeconds).toBe(7_200)
  expect([await subscriptionsOf('left'), await subscriptionsOf('right')]).toMatchObject([
    [{ protocol: 'sqs' }],
    [{ protocol: 'sqs' }],
  ])
})

test('no message is lost while API and Redis are restarted under it', async () => {
  await aTopic('steady')
  const { so } = await listen(['steady', '--forward-to', `${receiver.url}/steady`, '--concurrency', '50'])
  const accepted = new Set<string>()
  const send = async (batch: number) => {
    const messages = Array.from({ length: 100 }, (_, n) => ({ message: `${batch}-${n}` }))
    // A request that is cut by the restart is sent again, with the same key.
    const headers = { 'content-type': 'application/json', 'idempotency-key': `steady-${batch}` }
    const answer = await fetch(`${stack().api.url}/v1/topics/steady/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ messages }),
    }).catch(() => undefined)
    if (answer?.status !== 202) return false
    for (const { message } of messages) accepted.add(message)
    return true
  }
  const arrived = () =>
    new Set(
      receiver.requestsTo('/steady').map(({ text }) => (JSON.parse(text) as { Message: string }).Message),
    )
  for (let batch = 0; batch < MESSAGES / 100; batch++) {
    if (batch === MESSAGES / 300) await stack().api.restart()
    if (batch === MESSAGES / 150) {
      await stack().redis.kill()
      await stack().redis.restart()
    }
    await waitFor(() => send(batch), { timeoutMs: 30_000 })
  }
  await waitFor(() => arrived().size === MESSAGES, { timeoutMs: 60_000 })
  expect(arrived()).toEqual(accepted)
  expect(so.stderr).toContain('the server cannot be asked')
}, 120_000)

test.each([
  [['nothing-like-it', '--forward-to', 'localhost:1'], 3, 'not_found'],
  [['orders', '--forward-to', 'http://'], 2, '--forward-to is not an http or https address'],
  [['orders', '--forward-to', 'localhost:1', '--keep', '5s'], 2, 'leaseSeconds'],
  [['orders', '--forward-to', 'localhost:1', '--header', 'none'], 2, '--header must be'],
  [['orders'], 2, '--forward-to'],
  [['--forward-to', 'localhost:1'], 2, 'the topics are missing'],
  [['orders', '--as', 'x', '--forward-to', 'localhost:1'], 2, 'a topic is too much'],
  [['--as', 'x', '--raw', '--forward-to', 'localhost:1'], 2, '--raw is too much'],
])('%j is refused', async (words, code, text) => {
  const end = await callFantail(['listen', ...words, '--json'], { env: { FANTAIL_URL: stack().api.url } })
  expect([end.code, end.stderr]).toEqual([code, expect.stringContaining(text)])
})

provesCommands('tests/cli/listen.test.ts')
