/** Callers without a key where keys are required, on the ports of all services. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification } from '../harness/receivers/webhooks.ts'
import { runFantail } from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

const folder = await mkdtemp(join(tmpdir(), 'fantail-strangers-'))
const auditFile = join(folder, 'audit.log')
const env = { FANTAIL_AUTH: 'on', FANTAIL_AUDIT_FILE: auditFile }
const stack = useStack({ redrive: true, env })
afterAll(() => rm(folder, { recursive: true }))

const receiver = useReceiver()

async function authorized(...scopes: string[]): Promise<{ authorization: string }> {
  const words = ['keys', 'create', '--name', 'test', '--quiet', ...scopes.flatMap((one) => ['--scope', one])]
  const { stdout } = await runFantail(words, { env: { REDIS_URL: stack().redis.url, ...env } })
  return { authorization: `Bearer ${stdout.trim()}` }
}

test('metrics of every process need a key, its health does not', async () => {
  const headers = await authorized('read')
  for (const { url } of stack().services()) {
    const asked = [fetch(`${url}/metrics`), fetch(`${url}/metrics`, { headers }), fetch(`${url}/healthz`)]
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 200, 200])
  }
})

/** Calls the API with a key. */
async function callerWith(...scopes: string[]) {
  const headers = { ...(await authorized(...scopes)), 'content-type': 'application/json' }
  return async (method: string, path: string, body?: object) => {
    const made = await fetch(`${stack().api.url}/v1/${path}`, { method, headers, body: JSON.stringify(body) })
    return { status: made.status, body: (await made.json()) as { id: string; attempts?: object[] } }
  }
}

test('changes by API and command line are in the audit file and not in the log', async () => {
  const call = await callerWith('manage')
  await call('PUT', 'topics/audited', {})
  expect((await fetch(`${stack().api.url}/v1/topics/audited`, { method: 'DELETE' })).status).toBe(401)
  const lines = (await readFile(auditFile, 'utf8')).trimEnd().split('\n')
  const seen = lines.map((line) => JSON.parse(line)).map(({ msg, action, result }) => [msg, action, result])
  expect(seen).toEqual(
    expect.arrayContaining([
      ['audit', 'keys create', 'done'],
      ['audit', 'PUT /v1/topics/{topic}', 'done'],
      ['audit', 'DELETE /v1/topics/{topic}', 'denied'],
    ]),
  )
  expect(
    stack()
      .api.logLines()
      .filter(({ msg }) => msg === 'audit'),
  ).toEqual([])
})

test('only the link of a delivery unsubscribes without a key', async () => {
  const call = await callerWith('manage', 'publish', 'read')
  await call('PUT', 'topics/left', {})
  const endpoint = `${receiver().url}/left`
  const { id } = (await call('POST', 'topics/left/subscriptions', { endpoint })).body
  await call('POST', 'topics/left/messages', { message: 'hello' })
  const [first] = await receiver().waitForRequests(1, '/left')
  const link = (first && notification(first).UnsubscribeURL) ?? ''
  expect((await fetch(link.replace(/&Token=.*/, ''))).status).toBe(403)
  expect((await call('GET', `subscriptions/${id}`)).status).toBe(200)
  expect((await fetch(link)).status).toBe(200)
  expect((await call('GET', `subscriptions/${id}`)).status).toBe(404)
})

test('no reader gets the token of a link from an endpoint that repeats its request', async () => {
  receiver().respond('/echo', ({ text }) => ({ status: 400, body: text }))
  const call = await callerWith('manage', 'publish', 'read', 'bodies')
  await call('PUT', 'topics/echoed', { recordAttempts: 'failures' })
  const endpoint = `${receiver().url}/echo`
  const { id } = (await call('POST', 'topics/echoed/subscriptions', { endpoint })).body
  await call('POST', 'topics/echoed/messages', { message: 'hello' })
  const recorded = await waitFor(async () => {
    const { body } = await call('GET', `subscriptions/${id}/attempts`)
    return body.attempts?.length === 1 ? JSON.stringify(body) : undefined
  })
  const tested = JSON.stringify((await call('POST', `subscriptions/${id}/test`, {})).body)
  expect(tested.match(/&Token=\*\*\*/g)).toHaveLength(2)
  expect(recorded.match(/&Token=\*\*\*/g)).toHaveLength(1)
  for (const { text } of receiver().requestsTo('/echo')) {
    const [, token = ''] = /&Token=([\w-]{43})/.exec(text) ?? []
    expect(token).not.toBe('')
    expect(tested + recorded).not.toContain(token)
  }
})
