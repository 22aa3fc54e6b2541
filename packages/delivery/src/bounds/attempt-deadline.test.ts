import { expect, test } from 'vitest'
import { attemptDeadline, untilAborted } from './attempt-deadline.ts'

const NEVER = new Promise<string>(() => undefined)

test('work that hangs is left at the deadline, and when the process stops', async () => {
  await expect(untilAborted(attemptDeadline(1), NEVER)).rejects.toMatchObject({ name: 'TimeoutError' })
  const closing = new AbortController()
  const left = untilAborted(attemptDeadline(60_000, closing.signal), NEVER)
  closing.abort(new Error('stopped'))
  await expect(left).rejects.toThrow('stopped')
  await expect(untilAborted(closing.signal, NEVER)).rejects.toThrow('stopped')
})

test('work that ends before has its own result', async () => {
  const signal = attemptDeadline(60_000)
  expect(await untilAborted(signal, Promise.resolve('done'))).toBe('done')
  await expect(untilAborted(signal, Promise.reject(new Error('its own')))).rejects.toThrow('its own')
})
