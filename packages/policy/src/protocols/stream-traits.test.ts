import type { AttemptResult } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { nextStep } from '../retries/next-step.ts'
import { PROTOCOL_TRAITS } from './traits.ts'

function delays(set: Partial<AttemptResult>, attempts: number[]) {
  const policy = PROTOCOL_TRAITS.firehose.defaultPolicy.healthyRetryPolicy
  const result = { kind: 'response', statusCode: 503, durationMs: 1, ...set } as AttemptResult
  return attempts.map((made) => {
    const input = {
      result,
      protocol: 'firehose',
      attempts: made,
      policy,
      jitter: 0,
      random: () => 0,
    } as const
    const step = nextStep(input)
    return step.step === 'retry' ? step.delayMs : step
  })
}

test('[363] a throttled stream is retried by the slower row', () => {
  const first = delays({ isThrottled: true } as Partial<AttemptResult>, [1, 2, 3, 4, 5, 12, 50])
  expect(first.map((ms) => Math.round(Number(ms) / 100) / 10)).toEqual([10, 10, 10, 11.2, 13.5, 600, 600])
})

test('a throttle after an outage ends nothing', () => {
  const throttled = { isThrottled: true } as Partial<AttemptResult>
  expect(delays(throttled, [51, 100_015])).toEqual([600_000, 600_000])
  expect(delays(throttled, [100_016])).toEqual([{ step: 'dead', cause: 'retriesExhausted' }])
})

test('[364] other failures of a stream are retried by the faster row', () => {
  expect(delays({ statusCode: 500 }, [1, 3, 4, 5, 6, 15])).toEqual([0, 0, 1_000, 1_000, 1_000, 20_000])
  const failed = { kind: 'failure', error: 'timeout', permanent: false } as Partial<AttemptResult>
  expect(delays(failed, [1, 4])).toEqual([0, 1_000])
})

test('[365] a refusal that no retry changes is permanent', () => {
  expect(delays({ statusCode: 400 }, [1])).toEqual([{ step: 'dead', cause: 'permanent' }])
})
