import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { launcher } from '../../tests/harness/services/service-bundles.ts'
import { askRedis } from '../dev/ask-redis.mjs'
import { type DevTask, run } from '../dev/dev-task.fixture.ts'

const SERVICES = ['publish-api', 'delivery-worker', 'redrive']
/** A start takes half a second, but longer on a busy machine. */
const START_TIMEOUT_MS = 60_000
/** The limit of a test that starts processes one after the other. Each of them may take its time. */
const timeoutFor = (starts: number) => (starts + 1) * START_TIMEOUT_MS
/** It starts the bundles of the run, if there are any. */
const BIN = launcher()
const SOURCE = fileURLToPath(new URL('fantail.mjs', import.meta.url))

let redis: TestRedis
let task: DevTask | undefined

beforeEach(async () => {
  redis = await startRedis({ appendfsync: 'everysec' })
})

afterEach(async () => {
  task?.child.kill('SIGTERM')
  await task?.ended
  await redis.stop()
})

function fantail(role: string, bin = BIN): DevTask {
  task = run(process.execPath, [bin, role], process.cwd(), { FANTAIL_PORT: '0', REDIS_URL: redis.url })
  return task
}

/** Process ids by service, once each of them says that it has started. */
async function started(services: string[]): Promise<Map<string, number>> {
  const pids = () =>
    services.flatMap((name) => {
      const line = task?.output().match(new RegExp(`"pid":(\\d+),"msg":"${name}\\.started"`))
      return line ? [[name, Number(line[1])] as const] : []
    })
  await waitFor(() => pids().length === services.length, {
    what: `${services.join(', ')} to start`,
    timeoutMs: START_TIMEOUT_MS,
  })
  return new Map(pids())
}

it('runs one role, and stops it cleanly', { timeout: timeoutFor(1) }, async () => {
  const { child, ended } = fantail('redrive')
  await started(['redrive'])
  child.kill('SIGTERM')

  expect(await ended).toBe(0)
  expect(task?.output()).toContain('redrive.stopped')
})

it('runs every role from source, and stops them all cleanly', { timeout: timeoutFor(1) }, async () => {
  const { child, ended } = fantail('all', SOURCE)
  await started(SERVICES)
  child.kill('SIGTERM')

  expect(await ended).toBe(0)
  for (const name of SERVICES) expect(task?.output()).toContain(`${name}.stopped`)
})

it('ends with an error when one role of all is killed, the others stopped', {
  timeout: timeoutFor(1),
}, async () => {
  const { ended } = fantail('all')
  process.kill((await started(SERVICES)).get('delivery-worker') ?? 0, 'SIGKILL')

  expect(await ended).toBe(1)
  for (const name of ['publish-api', 'redrive']) expect(task?.output()).toContain(`${name}.stopped`)
})

it.each(['nothing', 'constructor'])('says that the command %s does not exist', async (name) => {
  const { ended } = fantail(name)

  expect(await ended).toBe(2)
  expect(task?.output()).toContain(`fantail: command ${name} does not exist. \`fantail --help\` lists them.`)
})

it('helps on stdout and exits with 0', async () => {
  const asked: [args: string[], usage: string][] = [
    [['--help'], 'usage: fantail COMMAND'],
    [['-h'], 'usage: fantail COMMAND'],
    [['worker', '--help'], 'usage: fantail COMMAND'],
    [['all', '--help'], 'usage: fantail all [--workers N|auto]'],
    [['keys', '--help'], 'usage: fantail keys create'],
    [['keys', 'create', '--help'], 'usage: fantail keys create'],
    [['secrets', '--help'], 'usage: fantail secrets create'],
    [['move', '--help'], 'usage: fantail move'],
    [['topics', '--help'], 'Usage: fantail topics'],
    [['help', 'topics'], 'Usage: fantail topics'],
    [['--json', 'topics', 'list', '-h'], 'Usage: fantail topics list'],
  ]
  const answers = await Promise.all(
    asked.map(([[tool = '', ...args]]) => command(tool, args, { REDIS_URL: '' })),
  )
  expect(answers).toEqual(
    asked.map(([, usage]) => ({ code: 0, stdout: expect.stringContaining(usage), stderr: '' })),
  )
})

it('says its version and its commit', async () => {
  const { version } = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
  )
  const { code, stdout } = await command('--version', [], { FANTAIL_COMMIT: 'c0ffee' })
  expect([code, stdout]).toEqual([0, `fantail ${version} (commit c0ffee)\n`])
})

it('makes a first key, in server mode too, and refuses what it does not know', {
  timeout: timeoutFor(3),
}, async () => {
  const keys = (...args: string[]) => keysCommand(args)
  const made = await keys('create', '--name', 'first', '--scope', 'manage', '--quiet')
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^ft_FK\S+\n$/)])
  expect((await keys('list')).stdout).toContain('first')
  const wrong = await keys('revoke', 'nobody')
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
    3,
    '',
    expect.stringContaining('key nobody does not exist'),
  ])
})

it('starts with the master key that secrets are sealed with only, and seals them again with another', {
  timeout: timeoutFor(4),
}, async () => {
  const [old, fresh] = ['0'.repeat(64), 'f'.repeat(64)]
  const server = { FANTAIL_MODE: 'server', FANTAIL_HOST: '127.0.0.1' }
  const start = (keys: Record<string, string>) => {
    const env = { FANTAIL_PORT: '0', REDIS_URL: redis.url, ...server, ...keys }
    task = run(process.execPath, [BIN, 'api'], process.cwd(), env)
    return task
  }
  const stopped = async (keys: Record<string, string>) => {
    const { child, ended, output } = start(keys)
    await waitFor(() => /"msg":"publish-api\.(started|failed)"/.test(output()), {
      what: 'the API',
      timeoutMs: START_TIMEOUT_MS,
    })
    child.kill('SIGTERM')
    return ended
  }
  // It ends by itself. On a busy machine it may have started before Redis answers, and it checks its keys only then.
  const refused = async (keys: Record<string, string>) => {
    const { ended, output } = start(keys)
    return { code: await ended, output: output() }
  }
  expect(await stopped({ FANTAIL_MASTER_KEY: old })).toBe(0)
  const both = { FANTAIL_MASTER_KEY: fresh, FANTAIL_MASTER_KEYS_OLD: old }
  const [wrong, none, nonsense, keyless] = await Promise.all([
    refused({ FANTAIL_MASTER_KEY: fresh }),
    refused({}),
    command('secrets', ['nonsense'], both),
    command('secrets', ['reseal']),
  ])
  expect(wrong.code).toBe(1)
  expect(wrong.output).toMatch(/sealed with master key [0-9a-f]{8}/)
  expect(none.output).toContain('FANTAIL_MASTER_KEY is not set')
  expect(nonsense.code).toBe(2)
  expect(keyless.stderr).toContain('FANTAIL_MASTER_KEY is not set')
  const resealed = await command('secrets', ['reseal'], both)
  expect([resealed.code, resealed.stdout]).toEqual([0, expect.stringMatching(/^0 secrets, 0 sealed again/)])
  expect(await stopped({ FANTAIL_MASTER_KEY: fresh })).toBe(0)
})

it('every role refuses a Redis that loses messages in server mode', async () => {
  await configureRedis('appendonly', 'no')
  const env = { FANTAIL_MODE: 'server', FANTAIL_HOST: '127.0.0.1', FANTAIL_PORT: '0', REDIS_URL: redis.url }
  const refused = ['api', 'worker', 'redrive'].map((role) =>
    run(process.execPath, [BIN, role], process.cwd(), env),
  )
  expect(await Promise.all(refused.map(({ ended }) => ended))).toEqual([1, 1, 1])
  for (const { output } of refused) {
    expect(output()).toContain('keeps nothing over a restart')
    expect(output()).toContain('FANTAIL_ALLOW_VOLATILE_REDIS=true')
  }
})

it('says what a command line of `fantail move` lacks', async () => {
  const from = ['--from', 'redis://127.0.0.1:1']
  const asked: [args: string[], why: string][] = [
    [[], '--from must be redis://'],
    [['--form', 'x'], "Unknown option '--form'"],
    [from, 'nothing says where to: give --to, or set one of REDIS_URL'],
  ]
  const env = { REDIS_URL: '', FANTAIL_MODE: 'local' }
  const answers = await Promise.all(asked.map(([args]) => command('move', args, env)))
  for (const [i, [, why]] of asked.entries()) {
    expect([answers[i]?.code, answers[i]?.stderr]).toEqual([
      2,
      expect.stringContaining(`fantail move: ${why}`),
    ])
    expect(answers[i]?.stderr).toContain('usage: fantail move')
  }
})

it('takes the settings of the units in a server tree, if the environment names no Redis', () => {
  const work = mkdtempSync(join(tmpdir(), 'fantail-tree-'))
  onTestFinished(() => rmSync(work, { recursive: true }))
  const wrapper = readFileSync(fileURLToPath(new URL('fantail', import.meta.url)), 'utf8')
  const settings = join(work, 'etc/fantail.env')
  mkdirSync(join(work, 'etc'))
  writeFileSync(join(work, 'fantail'), wrapper.replace('/etc/fantail/fantail.env', settings), { mode: 0o755 })
  writeFileSync(
    join(work, 'fantail.mjs'),
    'console.log(process.env.REDIS_URL, process.env.FANTAIL_EMAIL_FROM)',
  )
  symlinkSync(process.execPath, join(work, 'node'))
  const fantail = (role: string, env: Record<string, string> = {}) => {
    const { stdout, stderr } = spawnSync(join(work, 'fantail'), [role], { env, encoding: 'utf8' })
    return stdout + stderr
  }
  const missing = `undefined undefined\nfantail: ${settings} is missing, or only root may read it\n`
  expect(fantail('keys')).toBe(missing)
  writeFileSync(settings, "REDIS_URL=redis://units\nFANTAIL_EMAIL_FROM='Fantail <a@example.com>'\n")
  for (const role of ['keys', 'secrets', 'move', 'drill'])
    expect(fantail(role)).toBe('redis://units Fantail <a@example.com>\n')
  expect(fantail('keys', { REDIS_URL: 'redis://own' })).toBe('redis://own undefined\n')
  for (const role of ['dev', 'topics', 'api', 'all']) expect(fantail(role)).toBe('undefined undefined\n')
})

async function configureRedis(name: string, value: string): Promise<void> {
  expect(await askRedis(redis.port, `CONFIG SET ${name} ${value}`)).toContain('+OK')
}

const keysCommand = (args: string[]) => command('keys', args)

function command(
  tool: string,
  args: string[],
  set: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = { ...process.env, FANTAIL_MODE: 'server', REDIS_URL: redis.url, ...set }
  const child = spawn(process.execPath, [BIN, tool, ...args], { env })
  const answer = { code: null as number | null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    answer.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    answer.stderr += text
  })
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ ...answer, code }))
  })
}
