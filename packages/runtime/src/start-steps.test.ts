import { UnusableDataError } from '@fantail/store'
import { expect, test } from 'vitest'
import { createStartSteps } from './start-steps.ts'

const lines: string[] = []
const note = (_: object, event: string) => void lines.push(event)
const log = { info: note, warn: note } as unknown as Parameters<typeof createStartSteps>[0]['log']

/** A function that fails `times` times, and then returns how often it was called. */
function failing(times: number, error = new Error('Connection is closed.')) {
  let asked = 0
  return async () => {
    asked += 1
    if (asked <= times) throw error
    return asked
  }
}

test('a step is repeated until it works, with one line for each change', async () => {
  lines.length = 0
  const step = createStartSteps({ log })
  expect(await step(failing(2))).toBe(3)
  expect(await step(failing(0))).toBe(1)
  expect(lines).toEqual(['start.down', 'start.up'])
})

test('a permanent error ends the start', async () => {
  const wrong = new UnusableDataError('a wrong setting')
  const step = createStartSteps({ log })
  await expect(step(failing(1, wrong))).rejects.toBe(wrong)
})

test('a start that is called off ends with the reason', async () => {
  const given = new AbortController()
  const step = createStartSteps({ log, signal: given.signal })
  const started = step(failing(Number.POSITIVE_INFINITY))
  given.abort(new Error('called off'))
  await expect(started).rejects.toThrow('called off')
})
