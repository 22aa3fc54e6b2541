/**
 * Why an attempt from a lane came at its time. Each cause is given when it applies, and none if nothing delayed the
 * attempt.
 */
import { createMessageId, type Message } from '@fantail/contracts'
import { deliveryId } from '@fantail/store'
import { expect, test } from 'vitest'
import { MessageContext } from '../messages/message-context.ts'
import { attemptCause, type ExplainedEnd } from './attempt-why.ts'

const PUBLISHED_AT = 1_700_000_000_000
const messageId = createMessageId(PUBLISHED_AT)
const TOOK_MS = 10
const OUTCOME = { result: { kind: 'response', statusCode: 200, durationMs: TOOK_MS } } as const

function attempt(set: Partial<ExplainedEnd> = {}, of: Partial<Message> = {}): ExplainedEnd {
  const topicArn = 'arn:aws:sns:us-east-1:000000000000:orders'
  const context = new MessageContext({ messageId, topicArn, publishedAt: PUBLISHED_AT, message: 'x', ...of })
  return { delivery: deliveryId(messageId), context, attempts: 1, ...set }
}

/** The time at which an attempt ended that began this long after publishing. */
const after = (ms: number) => PUBLISHED_AT + ms + TOOK_MS

test('a first attempt in time has no cause, a late one waited for a slot or its group', () => {
  expect(attemptCause(attempt(), OUTCOME, undefined, after(999))).toBeUndefined()
  expect(attemptCause(attempt(), OUTCOME, undefined, after(7_000))).toEqual({
    cause: 'capacity',
    delayMs: 7_000,
  })
  const fifo = attempt({}, { sequenceNumber: '1', groupId: 'g' })
  expect(attemptCause(fifo, OUTCOME, undefined, after(7_000))).toEqual({
    cause: 'groupOrder',
    delayMs: 7_000,
  })
})

test('the thing that delayed a claim is its cause, however late it came', () => {
  for (const ms of [3, 7_000])
    expect(attemptCause(attempt({ waitedFor: 'throttle' }), OUTCOME, undefined, after(ms))).toEqual({
      cause: 'throttle',
      delayMs: ms,
    })
})

test('a probe, and what was published before the circuit closed, waited for the circuit', () => {
  const byCircuit = { cause: 'circuitOpen', delayMs: 60_000 }
  const probe = { open: true, closedAt: null }
  expect(attemptCause(attempt({ waitedFor: 'throttle' }), OUTCOME, probe, after(60_000))).toEqual(byCircuit)
  const closed = { open: false, closedAt: PUBLISHED_AT + 59_000 }
  expect(attemptCause(attempt(), OUTCOME, closed, after(60_000))).toEqual(byCircuit)
  const before = { open: false, closedAt: PUBLISHED_AT - 1 }
  expect(attemptCause(attempt(), OUTCOME, before, after(5))).toBeUndefined()
})

test('a retry keeps its decision, and a redriven one shows no time since publishing', () => {
  const whyDue = { cause: 'backoff', delayMs: 20_000 } as const
  expect(attemptCause(attempt({ attempts: 2, whyDue }), OUTCOME, undefined, after(90_000))).toEqual(whyDue)
  expect(attemptCause(attempt({ attempts: 2 }), OUTCOME, undefined, after(90_000))).toBeUndefined()
  const redriven = attempt({ delivery: deliveryId(messageId, 1) })
  expect(attemptCause(redriven, OUTCOME, undefined, after(90_000))).toBeUndefined()
})
