/** Judges while a fault stays: proper answers, and arrivals at all endpoints that the fault does not touch. */
import type { Endpoint } from '../inputs/chaos-endpoint.ts'
import { FIFO_PATH, FIFO_TOPIC, TOPIC } from '../inputs/chaos-topics.ts'
import { ENDPOINTS } from '../inputs/endpoints.ts'
import { arrivals } from '../judges/arrived-texts.ts'
import { KIND_ENDPOINTS } from '../providers/kind-endpoints.ts'
import type { World } from '../world/world.ts'
import type { Sent } from './steady-load.ts'

/** The time in which every publish must be answered. */
const ANSWER_MS = 2_000
const SHOWN = 3
const FIFO = FIFO_PATH.slice(1)
/** The endpoints that must get messages, unless the fault touches them. */
export const JUDGED = ['healthy', 'worked', FIFO, ...Object.keys(KIND_ENDPOINTS)]

interface Arriving {
  world: World
  /** Texts that the consumer of the queue has received. */
  worked: ReadonlyMap<string, number>
  accepted: Sent[]
  touches: readonly string[]
}

/** Each judged endpoint that lacks a message which was accepted this long ago, with the first such text. */
export function lacking({ world, worked, accepted, touches }: Arriving, ageMs: number): Map<string, string> {
  const arrived = arrivals(world, worked)
  const now = performance.now()
  const old = accepted.filter(({ answeredAt }) => now - answeredAt >= ageMs)
  const lacks = new Map<string, string>()
  for (const name of JUDGED) {
    if (touches.includes(name)) continue
    const { kind, mayBeUnknown }: Endpoint = ENDPOINTS[name] ?? {}
    const wanted = old.filter((sent) => {
      const isOwn = sent.topic === (name === FIFO ? FIFO_TOPIC : TOPIC)
      return isOwn && (kind === undefined || kind === sent.kind)
    })
    const first = wanted.findIndex(({ text }) => !arrived(name).has(text))
    // A text message that lost its answer is not sent again. Its lane goes on if a later one has arrived.
    const goesOn = mayBeUnknown && wanted.slice(first).some(({ text }) => arrived(name).has(text))
    if (first >= 0 && !goesOn) lacks.set(name, wanted[first]?.text ?? '')
  }
  return lacks
}

/** Each publish is accepted, or refused with a reason, in time. */
export function judgePublishes(sent: Sent[]): string[] {
  return [
    ...some(
      'publishes answered late',
      sent.filter(({ tookMs }) => tookMs > ANSWER_MS),
    ),
    ...some(
      'publishes answered improperly',
      sent.filter((each) => !isProper(each)),
    ),
  ]
}

/** 429: memory is full, and this topic uses most of it. */
function isProper({ status, reason }: Sent): boolean {
  return status === 202 || ((status === 503 || status === 429) && reason !== '')
}

function some(what: string, found: Sent[]): string[] {
  if (found.length === 0) return []
  const shown = found
    .slice(0, SHOWN)
    .map(
      ({ api, text, status, reason, tookMs }) =>
        `${text} at api-${api}: ${status} after ${Math.round(tookMs)} ms ${reason}`,
    )
  return [`${what}: ${found.length}: ${shown.join('; ')}`]
}
