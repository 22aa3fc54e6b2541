/**
 * The subscriptions of the standard topic: how each endpoint answers, and where its deliveries must end. An answer
 * depends on the message's number and on the number of attempts, never on chance or the clock. There is one exception:
 * the hung endpoint answers once no more faults come.
 */
import type { ReceivedRequest, Receiver } from '@fantail/test-kit'
import { retries } from '../../harness/receivers/webhooks.ts'
import type { Kind, PlannedMessage } from '../plan/input-plan.ts'
import { KIND_ENDPOINTS } from '../providers/kind-endpoints.ts'
import { ATTEMPT_TIMEOUT_MS } from '../world/world.ts'
import { type Endpoint, type Fate, KEPT_QUEUE } from './chaos-endpoint.ts'

export const DEAD_QUEUE = 'chaos-dead'
export const INBOX = 'chaos-inbox'
/** A consumer receives and deletes the messages of this queue. */
export const WORKED = 'chaos-worked'

const MANY_AT_ONCE = retries(50, { numNoDelayRetries: 50 })
const PATIENT = retries(100, { minDelayTarget: 1, maxDelayTarget: 5 })
const throttle = (maxReceivesPerSecond: number) => ({ throttlePolicy: { maxReceivesPerSecond } })
const deadLetters = (deadLetterTargetArn: string) => ({ redrivePolicy: { deadLetterTargetArn } })
const onlyKind = (kind: Kind) => ({ filterPolicy: { kind: [kind] } })

export const ENDPOINTS: Record<string, Endpoint> = {
  healthy: { settings: {} },
  flaky: {
    settings: { deliveryPolicy: MANY_AT_ONCE },
    answer: (number, attempt) => ({ status: attempt <= number % 3 ? 503 : 200 }),
  },
  // Arrives by a redrive.
  refusing: {
    settings: deadLetters(DEAD_QUEUE),
    answer: (number, attempt) => ({ status: attempt === 1 && number % 10 === 0 ? 404 : 200 }),
  },
  keeping: {
    settings: deadLetters(KEPT_QUEUE),
    answer: (number) => ({ status: number % 10 === 5 ? 404 : 200 }),
    fate: (text) => (numberOf(text) % 10 === 5 ? 'dead' : 'delivered'),
  },
  dropping: {
    settings: { redrivePolicy: null },
    answer: (number) => ({ status: number % 10 === 7 ? 404 : 200 }),
    fate: (text) => (numberOf(text) % 10 === 7 ? 'discarded' : 'delivered'),
  },
  resetting: {
    settings: { deliveryPolicy: MANY_AT_ONCE },
    answer: (number, attempt) => (attempt === 1 && number % 5 === 0 ? { reset: true } : {}),
  },
  slow: {
    settings: { deliveryPolicy: MANY_AT_ONCE },
    answer: (number) => (number % 4 === 0 ? { delayMs: ATTEMPT_TIMEOUT_MS / 2 } : {}),
  },
  hung: {
    settings: { deliveryPolicy: PATIENT },
    answer: (_number, _attempt, isCalm) => (isCalm ? {} : { hang: 'beforeHeaders' }),
  },
  throttled: { settings: { deliveryPolicy: throttle(15) }, perSecond: 15 },
  'throttled-flaky': {
    settings: { deliveryPolicy: { ...MANY_AT_ONCE, ...throttle(8) }, ...onlyKind('a') },
    kind: 'a',
    perSecond: 8,
    answer: (number, attempt) => {
      if (attempt === 1 && number % 4 === 1) return { reset: true }
      return { status: attempt === 1 && number % 4 === 0 ? 503 : 200 }
    },
  },
  // The kind of a message is its group too.
  'throttled-groups': {
    settings: {
      deliveryPolicy: MANY_AT_ONCE,
      groupThrottle: { maxReceivesPerSecond: 0.5, overrides: { a: 10 } },
      ...onlyKind('a'),
    },
    kind: 'a',
    perSecond: 10,
    answer: (number, attempt) => ({ status: attempt === 1 && number % 4 === 2 ? 503 : 200 }),
  },
  adaptive: {
    settings: { deliveryPolicy: PATIENT, retryMode: 'adaptive' },
    answer: (number, attempt) => ({ status: attempt === 1 && number % 8 === 0 ? 429 : 200 }),
  },
  circuit: {
    settings: { deliveryPolicy: PATIENT, circuitBreaker: { failures: 3, probeSeconds: 1 } },
    answer: (number, attempt) => ({ status: attempt <= 2 && Math.floor(number / 20) % 4 === 1 ? 503 : 200 }),
  },
  filtered: { settings: onlyKind('b'), kind: 'b' },
  paused: { settings: {}, paused: true, fate: () => 'waiting' },
  inbox: { settings: {}, queue: INBOX },
  worked: { settings: {}, queue: WORKED },
  ...KIND_ENDPOINTS,
}

/** Endpoints that must get a message. */
export function recipientsOf({ kind }: PlannedMessage): string[] {
  return Object.keys(ENDPOINTS).filter((name) => {
    const only = ENDPOINTS[name]?.kind
    return only === undefined || only === kind
  })
}

export function fateOf(name: string, text: string): Fate {
  return ENDPOINTS[name]?.fate?.(text) ?? 'delivered'
}

/** Programs the receiver. The hung endpoint answers once `isCalm` is true. */
export function answerAt(receiver: Receiver, isCalm: () => boolean): void {
  for (const [name, { answer }] of Object.entries(ENDPOINTS)) {
    if (!answer) continue
    const reply = ({ text, attempt }: ReceivedRequest) => answer(numberOf(text), attempt, isCalm())
    receiver.respond(`/${name}`, reply)
  }
}

function numberOf(text: string): number {
  return Number(text.slice(1))
}
