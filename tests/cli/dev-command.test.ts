/**
 * `fantail dev` as a process: the stack that it runs, the data that it keeps, and that none of its processes remains.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fantail } from '@fantail/client'
import { canSpawnRedis, redisServerPath, waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { followFantail, type RunningFantail, runFantail } from '../harness/services/run-fantail.ts'

interface Addresses {
  url: string
  consoleUrl: string | null
  services: Record<'api' | 'worker' | 'redrive', string>
  redisUrl: string
  dataDir: string | null
}

/** Stacks need a Redis binary. Some machines have only containers. */
describe.runIf(canSpawnRedis())('a stack of `fantail dev`', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fantail-dev-test-'))
  const env = { FANTAIL_REDIS_SERVER: redisServerPath() }
  const running: RunningFantail[] = []

  afterEach(async () => {
    for (const { kill, ended } of running.splice(0)) {
      kill('SIGTERM')
      await ended
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  async function dev(...words: string[]): Promise<RunningFantail & { addresses: Addresses }> {
    const process = followFantail(['dev', '--json', ...words], env)
    running.push(process)
    const { so } = process
    await waitFor(() => so.stdout.includes('\n') || so.stderr.includes('fantail dev:'), {
      what: `the addresses, not ${JSON.stringify(so)}`,
      timeoutMs: 60_000,
    })
    return { ...process, addresses: JSON.parse(so.stdout) }
  }

  const answers = (url: string) =>
    fetch(url).then(
      () => true,
      () => false,
    )
  const untilGone = ({ services }: Addresses) =>
    waitFor(async () => !(await Promise.all(Object.values(services).map(answers))).includes(true), {
      what: 'the services to end',
    })

  test('keeps its data over a kill, for one stack at a time, and ends with Ctrl-C', async () => {
    const first = await dev('--port', '0', '--data', folder)
    const { url, dataDir, services } = first.addresses
    expect(services.api).toBe(url)
    expect(dataDir).toBe(folder)
    const topic = new Fantail({ url }).topics('kept')
    await topic.create()
    const refused = await Promise.all([
      runFantail(['dev', '--port', '0', '--data', folder], { env }),
      runFantail(['dev', '--port', new URL(url).port, '--data', `${folder}/other`], { env }),
    ])
    expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
      [5, expect.stringMatching(/another `fantail dev` uses the data/)],
      [5, expect.stringMatching(/cannot be listened on/)],
    ])

    first.kill('SIGKILL')
    await first.ended
    await untilGone(first.addresses)
    const second = await dev('--port', '0', '--data', folder)
    const again = new Fantail({ url: second.addresses.url }).topics('kept')
    expect((await again.get()).name).toBe('kept')
    await again.publish('still works')

    second.kill('SIGINT')
    expect(await second.ended).toMatchObject({ code: 130 })
    await untilGone(second.addresses)
  }, 120_000)

  test('ends, and says why, if a service cannot start', async () => {
    const { code, stderr } = await runFantail(['dev', '--ephemeral'], {
      env: { ...env, FANTAIL_ATTEMPT_TIMEOUT_MS: 'nonsense' },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('FANTAIL_ATTEMPT_TIMEOUT_MS must be a whole number')
    // API and worker both read the setting.
    expect(stderr).toMatch(/fantail dev: (publish-api|delivery-worker): it ended with exit code 1/)
  }, 60_000)

  provesCommands('tests/cli/dev-command.test.ts')
})

test.each([
  [['dev', '--ephemeral', '--data', 'x'], 2, '--ephemeral keeps no data'],
  [['dev', '--port', '65534'], 2, 'at most 65533'],
])('%j is refused', async (words, code, text) => {
  expect(await runFantail(words)).toMatchObject({ code, stderr: expect.stringContaining(text) })
})
