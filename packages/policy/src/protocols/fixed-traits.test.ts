import type { Protocol } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { nextStep } from '../retries/next-step.ts'
import { PROTOCOL_TRAITS } from './traits.ts'

const failure = { kind: 'failure', error: 'timeout', detail: '', durationMs: 1, permanent: false } as const
const stepAfter = (protocol: Protocol, attempts: number) =>
  nextStep({
    result: failure,
    protocol,
    attempts,
    policy: PROTOCOL_TRAITS[protocol].defaultPolicy.healthyRetryPolicy,
    jitter: 0,
    random: Math.random,
    maxRetrySeconds: 3_600,
  })

test.each(['sqs', 'lambda', 'firehose'] as const)(
  '[306] %s gets 1 + 3 + 2 + 10 + 100,000 attempts',
  (protocol) => {
    expect(stepAfter(protocol, 100_015)).toMatchObject({ step: 'retry', delayMs: 20_000 })
    expect(stepAfter(protocol, 100_016)).toEqual({ step: 'dead', cause: 'retriesExhausted' })
  },
)

test.each(['email', 'email-json'] as const)('%s gets 1 + 2 + 10 + 38 attempts', (protocol) => {
  expect(stepAfter(protocol, 50)).toMatchObject({ step: 'retry', delayMs: 600_000 })
  expect(stepAfter(protocol, 51)).toEqual({ step: 'dead', cause: 'retriesExhausted' })
})
