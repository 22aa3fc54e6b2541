import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { capture } from '../bootstrap/steps.mjs'

const script = fileURLToPath(new URL('check-settings.mjs', import.meta.url))

const check = (env: Record<string, string>) =>
  capture(process.execPath, ['--conditions=@fantail/source', script], {
    env: { PATH: process.env.PATH, ...env },
  })

it('is content with the defaults of the local stack', async () => {
  expect(await check({})).toEqual({ code: 0, stdout: '', stderr: '' })
})

it('names every problem of any service, each once', async () => {
  const { code, stderr } = await check({ FANTAIL_MODE: 'server', FANTAIL_ATTEMPTS_MAX: 'many' })
  expect(code).toBe(1)
  const [first, ...problems] = stderr.trim().split('\n')
  expect(first).toBe('cannot start with these settings:')
  expect(problems.sort()).toEqual([
    expect.stringMatching(/^ {2}FANTAIL_ATTEMPTS_MAX must be /),
    expect.stringMatching(/^ {2}REDIS_URL must be set in server mode/),
  ])
})
