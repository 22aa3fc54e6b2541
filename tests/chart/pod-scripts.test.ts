/** The scripts that the chart runs in pods, against a stack that asks for keys. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ApiKeys } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { machineEnv } from '../harness/runs/machine-env.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { useStack } from '../harness/services/stack.ts'
import { startKubernetes, type TestKubernetes } from './kubernetes.fixture.ts'

const run = promisify(execFile)
const stack = useStack({ env: { FANTAIL_AUTH: 'on' } })
let kubernetes: TestKubernetes

beforeAll(async () => {
  kubernetes = await startKubernetes('keys')
})
afterAll(() => kubernetes.stop())

const keyNames = async () => {
  const { items } = await new ApiKeys(stack().connection).list({ limit: 100 })
  return items.map(({ name }) => name).sort()
}

async function makeKeys() {
  const script = await kubernetes.script('first-key.mjs')
  const wanted = ['token:publish,read,manage', 'metrics:read']
  const words = [script, 'keys', ...wanted, '--', process.execPath, launcher()]
  return run(process.execPath, words, { env: { ...machineEnv(), ...stack().place.env, ...kubernetes.env } })
}

test('the Job leaves no key behind that it cannot write to the Secret', async () => {
  kubernetes.refuses = true
  await expect(makeKeys()).rejects.toThrow('403')
  expect([await keyNames(), [...kubernetes.secret]]).toEqual([[], []])
})

test('the Job makes keys that work, and makes none again', async () => {
  kubernetes.refuses = false
  await makeKeys()
  expect([...kubernetes.secret.keys()]).toEqual(['token', 'metrics'])
  const { stdout } = await makeKeys()
  expect(stdout).toContain('the Secret keys has metrics already')
  expect(await keyNames()).toEqual(['keys-metrics', 'keys-token'])
  const metrics = (token = '') =>
    fetch(`${stack().api.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  expect((await metrics()).status).toBe(401)
  const answer = await metrics(kubernetes.secret.get('metrics'))
  expect(await answer.text()).toMatch(/^fantail_due_deliveries 0$/m)
})

test('the Job makes a key again that Redis does not know any more', async () => {
  const before = new Map(kubernetes.secret)
  await new ApiKeys(stack().connection).revoke(/^ft_([^_]+)_/.exec(before.get('token') ?? '')?.[1] ?? '')
  await makeKeys()
  expect(kubernetes.secret.get('metrics')).toBe(before.get('metrics'))
  expect(kubernetes.secret.get('token')).not.toBe(before.get('token'))
  expect(await keyNames()).toEqual(['keys-metrics', 'keys-token'])
})

test('`helm test` publishes a message, receives it, and leaves nothing behind', async () => {
  const script = await kubernetes.script('test-delivery.mjs')
  const env = {
    FANTAIL_URL: stack().api.url,
    FANTAIL_API_KEY: kubernetes.secret.get('token') ?? 'the Job made none',
  }
  const { stdout } = await run(process.execPath, [script], { env })
  expect(stdout).toContain('a published message arrived')
  const headers = { authorization: `Bearer ${env.FANTAIL_API_KEY}` }
  for (const kind of ['topics', 'queues']) {
    const answer = await fetch(`${stack().api.url}/v1/${kind}`, { headers })
    expect(await answer.json()).toMatchObject({ [kind]: [] })
  }
  await expect(
    run(process.execPath, [script], { env: { ...env, FANTAIL_API_KEY: 'ft_no' } }),
  ).rejects.toThrow('401')
})
