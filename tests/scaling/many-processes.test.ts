/** `fantail all` with options, as users start it: it starts, watches, replaces and ends several services. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CountingReceiver, startCountingReceiver } from '../harness/receivers/counting-receiver.ts'
import { machineEnv } from '../harness/runs/machine-env.ts'
import { untilPassed } from '../harness/services/passing-time.ts'
import { launcher } from '../harness/services/service-bundles.ts'

interface Line {
  msg: string
  [field: string]: unknown
}

const MESSAGES_MAX = 100_000
/** Pause of each publisher. A flood would take all processors from the processes that start. */
const PUBLISH_EVERY_MS = 100
const LONG = { timeoutMs: 60_000 }
let redis: TestRedis
let receiver: CountingReceiver
let all: ChildProcess
let ended: Promise<number | null>
let output = ''

const settings = () => ({ ...machineEnv(), REDIS_URL: redis.url, FANTAIL_PORT: '0' })

beforeAll(async () => {
  redis = await startRedis()
  receiver = await startCountingReceiver(MESSAGES_MAX)
  const words = [launcher(), 'all', '--workers', '2', '--apis', '2']
  all = spawn(process.execPath, words, { env: settings(), stdio: ['ignore', 'pipe', 'inherit'] })
  all.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  ended = new Promise((resolve) => all.once('exit', resolve))
  await logged('all.started')
}, 120_000)

afterAll(async () => {
  all.kill('SIGKILL')
  await ended
  await receiver.close()
  await redis.stop()
})

const lines = (msg: string) =>
  output
    .split('\n')
    .filter((line) => line.includes(`"msg":"${msg}"`))
    .map((line) => JSON.parse(line) as Line)

async function logged(msg: string, count = 1): Promise<Line[]> {
  const hasCome = () => {
    if (all.exitCode !== null) throw new Error(`fantail ended with ${all.exitCode}\n${output}`)
    return lines(msg).length >= count
  }
  await waitFor(hasCome, { what: msg, ...LONG })
  return lines(msg)
}

const SERVICES = ['publish-api', 'delivery-worker', 'redrive']
/** Process ids of services, in the order of their starts. */
const pids = () => SERVICES.flatMap((name) => lines(`${name}.started`).map(({ pid }) => Number(pid)))
const living = () => pids().filter(isAlive)
const origin = () => `http://127.0.0.1:${lines('api.listening')[0]?.port}`

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Publishes numbers until it is stopped. Returns the accepted ones. Any other answer than 202 is thrown. */
function publishNumbers(path: string) {
  // One connection each: an idle one could be closed just as a request is sent on it.
  const keepAlive = Array.from({ length: 4 }, () => new Agent({ connections: 1 }))
  const accepted: number[] = []
  let next = 0
  let isOn = true
  const publishAgain = async (agent: () => Agent) => {
    while (isOn) {
      const number = next++
      const dispatcher = agent()
      const body = JSON.stringify({ message: String(number) })
      const headers = { 'content-type': 'application/json' }
      const answer = await request(origin() + path, { method: 'POST', dispatcher, body, headers })
      const text = await answer.body.text()
      if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${text}`)
      accepted.push(number)
      if (!keepAlive.includes(dispatcher)) await dispatcher.close()
      await untilPassed(PUBLISH_EVERY_MS)
    }
  }
  const publishers = Promise.all([
    ...keepAlive.map((agent) => publishAgain(() => agent)),
    ...Array.from({ length: 8 }, () => publishAgain(() => new Agent({ pipelining: 0 }))),
  ])
  publishers.catch(() => undefined)
  return {
    accepted,
    stop: async () => {
      isOn = false
      await publishers.finally(() => Promise.all(keepAlive.map((agent) => agent.destroy())))
    },
  }
}

it('refuses a count that is none, and starts by `auto` as many as the cores allow', {
  timeout: 60_000,
}, async () => {
  const run = (...words: string[]) => {
    return spawn(process.execPath, [launcher(), 'all', ...words], {
      env: settings(),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  }
  const wrong = run('--workers', 'many')
  expect((await once(wrong, 'exit'))[0]).toBe(2)

  const auto = run('--workers', 'auto', '--apis', '1')
  const end = once(auto, 'exit')
  const [text] = (await once(auto.stdout, 'data')) as [Buffer]
  const cores = availableParallelism()
  const workers = Math.max(1, cores - Math.max(1, Math.round(cores / 4)) - 1)
  expect(JSON.parse(String(text).split('\n')[0] ?? '')).toMatchObject({ cores, workers, apis: 1 })
  auto.kill('SIGTERM')
  await end
})

it('starts as many as asked, and the APIs share a port', async () => {
  const [starting] = lines('all.starting')
  expect(starting).toMatchObject({ workers: 2, apis: 2 })
  expect(SERVICES.map((name) => lines(`${name}.started`).length)).toEqual([2, 2, 1])
  expect(new Set(lines('api.listening').map(({ port }) => port)).size).toBe(1)
  expect(new Set((await logged('ops.listening', 5)).map(({ port }) => port)).size).toBe(5)
})

it('starts a killed process again, and leaves the others alone', { timeout: 60_000 }, async () => {
  const before = pids()
  const killed = Number(lines('delivery-worker.started')[0]?.pid)
  process.kill(killed, 'SIGKILL')
  const [restarted] = await logged('all.restarted')

  expect(lines('all.ended')).toEqual([expect.objectContaining({ how: 'SIGKILL', restartMs: 1_000 })])
  const others = before.filter((pid) => pid !== killed)
  expect(living().sort()).toEqual([...others, Number(restarted?.pid)].sort())
})

it('replaces each process on SIGHUP, and drops no publish and no message', { timeout: 120_000 }, async () => {
  const call = async (method: 'PUT' | 'POST', path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await request(origin() + path, {
      method,
      body: JSON.stringify(body),
      headers,
      reset: true,
    })
    expect([path, answer.statusCode, await answer.body.text()]).toEqual([path, 201, expect.any(String)])
  }
  await call('PUT', '/v1/topics/numbers', {})
  await call('POST', '/v1/topics/numbers/subscriptions', {
    protocol: 'http',
    endpoint: receiver.url,
    rawMessageDelivery: true,
  })
  const before = living()
  const { accepted, stop } = publishNumbers('/v1/topics/numbers/messages')
  await waitFor(() => accepted.length > 20, { what: 'first publishes', ...LONG })
  all.kill('SIGHUP')
  await logged('all.replaced_all').finally(stop)

  expect(lines('all.replaced').length).toBe(5)
  expect(before.filter(isAlive)).toEqual([])
  expect(living().length).toBe(5)
  const missing = () => accepted.filter((number) => receiver.times(number) === 0)
  await waitFor(() => missing().length === 0, { what: 'every accepted message', ...LONG })
})

it('ends every process on SIGTERM', { timeout: 60_000 }, async () => {
  all.kill('SIGTERM')

  expect(await ended).toBe(0)
  expect(living()).toEqual([])
  for (const pid of pids().slice(-2)) expect(isAlive(pid)).toBe(false)
})
