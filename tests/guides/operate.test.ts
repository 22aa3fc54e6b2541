/** The guide to running Fantail, section by section, on real processes and a real Redis with its files. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { canSpawnRedis, redisServerPath, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { RestClient } from '../harness/services/rest-client.ts'
import { filesMatching, ROOT, textOf } from '../repo/repository.ts'
import type { Known } from './guide-steps.ts'
import { type Machine, startMachine } from './machine.ts'
import { createShell, isInstalled, type Shell } from './shell.ts'

const GUIDE = 'docs/guides/operate.md'
const MESSAGES = 20
const SECTION_TIMEOUT_MS = 90_000

const units = filesMatching('infra/systemd/*.service')

test.skipIf(!isInstalled('systemd-analyze') || !canSpawnRedis())('systemd takes every unit', async () => {
  expect(units).toHaveLength(5)
  const folder = await mkdtemp(join(tmpdir(), 'fantail-units-'))
  try {
    for (const unit of units) {
      // Replaces the paths of a unit's programs by those of this machine.
      const text = textOf(unit)
        .replaceAll('/opt/fantail/bin/fantail', join(ROOT, 'infra/bin/fantail.mjs'))
        .replaceAll('/opt/fantail', ROOT.replace(/\/$/, ''))
        .replace('/usr/bin/redis-server', redisServerPath())
      await writeFile(join(folder, basename(unit)), text)
    }
    const words = ['verify', '--man=no', ...units.map((unit) => join(folder, basename(unit)))]
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', words)
    expect(`${stdout}${stderr}`).not.toContain(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the settings that the units share are those of the services', () => {
  const names = Array.from(textOf('infra/systemd/fantail.env').matchAll(/^([A-Z_]+)=/gm), ([, name]) => name)
  expect(names.length).toBeGreaterThan(3)
  const known = textOf('.env.example')
  expect(names.filter((name) => !new RegExp(`^(# )?${name}=`, 'm').test(known))).toEqual([])
})

/** It has systemd's parser of such files. */
const SYSTEMD_PARSER = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator'

test.each(['infra/systemd/fantail.env', '.env.example'])(
  'sh and systemd read %s as Node does',
  async (path) => {
    // The examples too. This parser of systemd complains of empty values, while that of EnvironmentFile takes them.
    const text = textOf(path)
      .replace(/^# (?=[A-Z_]+=)/gm, '')
      .replace(/^[A-Z_]+=$/gm, '')
    const settings = Object.entries(parseEnv(text))
    expect(settings.length).toBeGreaterThan(8)
    const folder = await mkdtemp(join(tmpdir(), 'fantail-settings-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, 'environment.d'))
    const file = join(folder, 'environment.d', 'fantail.conf')
    await writeFile(file, text)
    const run = promisify(execFile)
    const bySh = await run('sh', ['-euc', `set -a; . ${file}; exec env`], { env: {} })
    expect(bySh.stderr).toBe('')
    for (const [name, value] of settings) expect(bySh.stdout.split('\n')).toContain(`${name}=${value}`)
    if (!existsSync(SYSTEMD_PARSER)) return
    const bySystemd = await run(SYSTEMD_PARSER, { env: { XDG_CONFIG_HOME: folder, HOME: folder } })
    expect(bySystemd.stderr).toBe('')
    const read = [...bySystemd.stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value = '']) => [
      name,
      value.startsWith('"') ? JSON.parse(value) : value,
    ])
    expect(read).toEqual(expect.arrayContaining(settings))
  },
)

const TOOLS = ['redis-server', 'redis-cli', 'openssl', 'curl']

describe.skipIf(!canSpawnRedis() || !TOOLS.every(isInstalled))(GUIDE, () => {
  const receiver = useReceiver()
  const known: Known = new Map()
  let machine: Machine
  let shell: Shell
  let client: RestClient
  let subscription: string
  let isBroken = false

  beforeAll(async () => {
    machine = await startMachine()
    const { addresses, beginning } = machine
    shell = createShell({ addresses, beginning, known })
    client = new RestClient(() => machine.api)
  }, SECTION_TIMEOUT_MS)

  afterAll(async () => {
    await client.close()
    await machine.stop()
  }, SECTION_TIMEOUT_MS)

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ft_${known.get('token')}` }
    const answer = await client.call<T>(method, path, { headers, ...(body === undefined ? {} : { body }) })
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  function section(name: string, check: () => Promise<void> = async () => undefined): void {
    test(
      `${name}: the commands do what stands there`,
      async ({ skip }) => {
        onTestFailed(() => console.error(machine.logText()))
        // Later sections depend on earlier ones.
        if (isBroken) skip()
        isBroken = true
        await shell.runGuide(GUIDE, name)
        await check()
        isBroken = false
      },
      SECTION_TIMEOUT_MS,
    )
  }

  /** Checks that all deliveries wait, and are then made with valid signatures. */
  async function deliveriesGoOn(): Promise<void> {
    const path = `/v1/subscriptions/${subscription}`
    type Paused = { status: string; lane: { waiting: number } }
    expect(await call<Paused>('GET', path)).toMatchObject({ status: 'paused', lane: { waiting: MESSAGES } })
    receiver().clear()
    await call('POST', `${path}/resume`)
    const requests = await receiver().waitForRequests(MESSAGES, '/hook')
    expect(new Set(requests.map(({ text }) => text)).size).toBe(MESSAGES)
    expect(requests.every(({ headers }) => headers['webhook-signature'])).toBe(true)
  }

  /** Publishes messages that wait in the lane of a paused subscription. */
  async function publishSome(): Promise<void> {
    await call('POST', `/v1/subscriptions/${subscription}/pause`)
    const messages = Array.from({ length: MESSAGES }, (_, n) => ({ message: `message ${n}` }))
    await call('POST', '/v1/topics/shop/messages', { messages })
    await waitFor(async () => {
      const { lane } = await call<{ lane: { waiting: number } }>('GET', `/v1/subscriptions/${subscription}`)
      return lane.waiting === MESSAGES
    })
  }

  section('Set up')
  section('Redis settings that matter')
  section('API keys', async () => {
    await call('PUT', '/v1/topics/shop', {})
    const endpoint = `${receiver().url}/hook`
    const { id } = await call<{ id: string }>('POST', '/v1/topics/shop/subscriptions', { endpoint })
    await call('POST', `/v1/subscriptions/${id}/webhook-keys`, {})
    subscription = id
  })
  section('A first message')
  section('The master key', publishSome)
  section('Back up')
  section('Restore')
  section('From a snapshot', deliveriesGoOn)
  section('From a copy of the folder', deliveriesGoOn)
  section('Upgrade')
  section('Scale, and drain a worker', publishSome)
  section('Replace Redis', deliveriesGoOn)
})
