/** Commands of `fantail` that talk to Redis instead of the API, and the services, as processes. */
import { dataFormatKey } from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { runFantail } from '../harness/services/run-fantail.ts'

const { server, redis } = await useRedis()
const other = await useRedis()

function fantail(line: string, env: Record<string, string> = {}) {
  return runFantail(line.split(' '), { env: { REDIS_URL: server.url, FANTAIL_MODE: 'local', ...env } })
}

test('API keys are made, listed and revoked in Redis', async () => {
  const made = await fantail('keys create --name ops --scope read --quiet')
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^ft_FK[\w-]+\n$/)])
  const listed = await fantail('keys list')
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^FK\w+ .* read .* ops\n$/)])
  const [id = ''] = listed.stdout.split(' ')
  expect(await fantail(`keys revoke ${id}`)).toMatchObject({ code: 0, stdout: `key ${id} is revoked\n` })
  expect(await fantail(`keys revoke ${id}`)).toMatchObject({
    code: 3,
    stderr: `fantail keys: there is no key ${id}\n`,
  })
  expect((await fantail('keys list --json')).code).toBe(2)
})

test('secrets are sealed anew with a master key, and with none the command says so', async () => {
  const sealed = await fantail('secrets reseal', { FANTAIL_MASTER_KEY: '0'.repeat(64) })
  expect(sealed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 secrets, 0 sealed anew/) })
  expect((await fantail('secrets')).code).toBe(2)
})

test.each<[string, number, Record<string, string>?]>([
  ['keys create --name ops --scope read', 1],
  ['secrets reseal', 1, { FANTAIL_MASTER_KEY: '0'.repeat(64) }],
  ['move --from redis://127.0.0.1:1/0', 1],
  ['worker', 78, { FANTAIL_OPS_PORT: '0' }],
  ['all --workers 1', 78, { FANTAIL_PORT: '0' }],
])('`fantail %s` leaves data alone that a newer release has made', async (line, exit, env) => {
  const data = '{"format":2,"capabilities":{},"pending":{}}'
  await redis.set(dataFormatKey(), data)
  const source = line.replace('redis://127.0.0.1:1/0', server.url)
  const to: Record<string, string> = line.startsWith('move') ? { REDIS_URL: other.server.url } : {}
  const { code, stdout, stderr } = await fantail(source, { ...env, ...to })
  expect([code, stdout + stderr]).toEqual([exit, expect.stringContaining('have format 2, and this release')])
  expect([await redis.get(dataFormatKey()), await other.redis.dbsize()]).toEqual([data, 0])
  await redis.del(dataFormatKey())
})

test.each(['api', 'worker', 'redrive', 'all'])(
  '`fantail %s` names a setting that is wrong',
  async (service) => {
    const { code, stdout, stderr } = await fantail(service, { FANTAIL_LOG_LEVEL: 'nonsense' })
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('FANTAIL_LOG_LEVEL')])
  },
)

provesCommands('tests/cli/redis-commands.test.ts')
