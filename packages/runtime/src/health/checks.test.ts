import { expect, test } from 'vitest'
import { createStartCheck, runChecks } from './checks.ts'

test('a service that answers before it works is not ready', async () => {
  const start = createStartCheck()
  expect(await runChecks({ start: start.check })).toEqual({
    ready: false,
    checks: { start: 'still starting' },
  })
  start.done()
  expect(await runChecks({ start: start.check })).toEqual({ ready: true, checks: { start: 'ok' } })
})

test('a check that does not answer in time fails', async () => {
  const never = () => new Promise(() => undefined)
  const { ready, checks } = await runChecks({ never, other: async () => 1 }, 20)
  expect([ready, checks]).toEqual([false, { never: 'no answer within 20 ms', other: 'ok' }])
})
