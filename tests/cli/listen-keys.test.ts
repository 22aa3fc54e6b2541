/**
 * `fantail listen` on a server that requires API keys. Also the keyboard keys of `fantail listen` and `redrive
 * --watch`.
 */
import { parseToken } from '@fantail/contracts'
import { type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isInstalled } from '../guides/shell.ts'
import { openTerminal, type Terminal } from '../harness/runs/terminal.ts'
import { followFantail, runFantail } from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true, env: { FANTAIL_AUTH: 'on' } })
let receiver: Receiver
/** `some` lacks the scopes `read` and `bodies`. */
const keys = { all: '', some: '' }

beforeAll(async () => {
  receiver = await startReceiver()
  keys.all = await newKey('manage', 'read', 'bodies', 'publish', 'redrive')
  keys.some = await newKey('manage', 'consume')
  await fantail(['topics', 'create', 'asked'])
  return () => receiver.close()
})

async function newKey(...scopes: string[]): Promise<string> {
  const words = [
    'keys',
    'create',
    '--name',
    'test',
    '--quiet',
    ...scopes.flatMap((scope) => ['--scope', scope]),
  ]
  const { stdout } = await runFantail(words, { env: { REDIS_URL: stack().redis.url, FANTAIL_AUTH: 'on' } })
  return stdout.trim()
}

const env = (key = keys.all) => ({ FANTAIL_URL: stack().api.url, FANTAIL_API_KEY: key })

async function fantail(words: string[], key?: string) {
  return runFantail(words, { env: env(key) })
}

const LISTEN = () => ['listen', 'asked', '--forward-to', `${receiver.url}/asked`]

test('a key without the scopes is refused, and nothing is made', async () => {
  const { code, stderr } = await fantail([...LISTEN(), '--yes'], keys.some)
  expect([code, stderr]).toEqual([4, expect.stringContaining('lacks the scopes read and bodies')])
})

test('without a terminal it needs --yes', async () => {
  const { code, stderr } = await fantail(LISTEN())
  expect([code, stderr]).toEqual([2, expect.stringContaining('forward the messages of asked')])
  const beganAt = new Date().toISOString()
  const { kill, ended, so } = followFantail([...LISTEN(), '--yes'], env())
  await waitFor(() => so.stderr.includes('listening to asked'))
  const [, queue = ''] = /as queue (listen-\w+)/.exec(so.stderr) ?? []
  kill('SIGINT')
  expect((await ended).code).toBe(130)
  const done = { keyId: parseToken(keys.all)?.id, result: 'done' }
  const lines = await waitFor(async () => {
    const found = await auditSince(beganAt)
    return found.some(({ action }) => action.startsWith('DELETE')) ? found : undefined
  })
  expect(lines).toMatchObject([
    { ...done, action: expect.stringMatching(/^DELETE /), resource: { queue } },
    { ...done, action: expect.stringMatching(/^POST .*subscriptions$/), resource: { topic: 'asked' } },
    { ...done, action: expect.stringMatching(/^PUT /), resource: { queue } },
  ])
})

interface AuditLine {
  action: string
}

/** The lines of the audit log since a time, newest first. */
async function auditSince(since: string): Promise<AuditLine[]> {
  const headers = { authorization: `Bearer ${keys.all}` }
  const answer = await fetch(`${stack().api.url}/v1/audit?since=${since}`, { headers })
  return ((await answer.json()) as { entries: AuditLine[] }).entries
}

describe.runIf(isInstalled('tmux'))('in a terminal', () => {
  let terminal: Terminal | undefined
  afterEach(() => terminal?.close())

  test('it asks once, and keys show, repeat and drop the message that was refused last', async () => {
    receiver.respond('/asked', () => ({ status: 503, body: 'come later' }))
    terminal = await openTerminal(LISTEN(), env())
    await terminal.shows(/Go on\? \[y\/N\]/)
    await terminal.press('y', 'Enter')
    await terminal.shows(/as queue listen-/)
    await fantail(['publish', 'asked', 'hello'])
    await terminal.shows(/attempt 1 {2}503 .*\[r\]etry \[d\]etail \[s\]kip/)
    await terminal.press('d')
    expect(await terminal.shows(/< come later/)).toMatch(/> webhook-signature: v1,/)
    const before = receiver.requestsTo('/asked').length
    await terminal.press('r')
    await terminal.shows(/is sent again now/)
    await waitFor(() => receiver.requestsTo('/asked').length > before)
    await terminal.shows(/attempt [2-9] {2}503/)
    await terminal.press('s')
    await terminal.shows(/is dropped|is already under way/)
    await terminal.press('C-c')
    await terminal.shows(/exit code 130/)
    expect(JSON.parse((await fantail(['queues', 'list', '--json', '--quiet'])).stdout || '[]')).toEqual([])
  }, 60_000)

  test('a no leaves everything as it is', async () => {
    terminal = await openTerminal(LISTEN(), env())
    await terminal.shows(/Go on\? \[y\/N\]/)
    await terminal.press('n', 'Enter')
    await terminal.shows(/nothing was changed[\s\S]*exit code 1/)
  })

  test('keys pause a redrive, change its rate, and leave it running', async () => {
    for (const queue of ['letters', 'target']) await fantail(['queues', 'create', queue])
    const messages = Array.from({ length: 20 }, (_, n) => ({ body: `${n}` }))
    await fetch(`${stack().api.url}/v1/queues/letters/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.all}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    })
    const words = ['redrive', 'letters', '--to', 'target', '--rate', '1/s', '--watch']
    terminal = await openTerminal(words, env())
    await terminal.shows(/\[p\]ause/)
    await waitFor(async () => /\d+ of 20/.test((await terminal?.screen()) ?? ''))
    await terminal.press('p')
    await terminal.shows(/the redrive is paused, rate 1\/s/)
    await terminal.press('+')
    await terminal.shows(/the redrive is paused, rate 2\/s/)
    await terminal.press('p')
    await terminal.shows(/the redrive is running, rate 2\/s/)
    await terminal.press('q')
    await terminal.shows(/it goes on: [\s\S]*exit code 0/)
    const [task] = (await fantail(['redrive', 'list', '--json'])).stdout.trim().split('\n')
    expect(JSON.parse(task ?? '')).toMatchObject({ status: 'running', maxMessagesPerSecond: 2 })
  }, 60_000)
})
