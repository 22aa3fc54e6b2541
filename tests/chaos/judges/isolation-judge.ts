/**
 * After the faults, each provider in turn answers nothing for a while. At last a webhook does the same. Meanwhile
 * messages are published, and all other endpoints must get them within a time limit: a webhook, a queue, and endpoints
 * of all other kinds.
 */
import { startFairTimer, waitFor } from '@fantail/test-kit'
import type { Endpoint } from '../inputs/chaos-endpoint.ts'
import { TOPIC } from '../inputs/chaos-topics.ts'
import type { Kind } from '../plan/input-plan.ts'
import { KIND_ENDPOINTS } from '../providers/kind-endpoints.ts'
import { PROVIDERS, type ProviderName } from '../providers/providers.ts'
import type { World } from '../world/world.ts'
import { arrivals } from './arrived-texts.ts'

/** Enough batches to fill every allowance that a hung endpoint still has. */
const BATCHES = 3
const BATCH = 10
/** Far below the delay of a retry of mail, text messages and push, which is at least ten seconds. */
const WITHIN_MS = 8_000
const TIMEOUT_MS = 60_000
const HEALTHY = 'healthy'
const QUEUE = 'worked'
const WEBHOOK = 'webhook'

type Hung = ProviderName | typeof WEBHOOK

interface RoundTools {
  world: World
  /** Texts that the consumer of the queue has received. */
  worked: ReadonlyMap<string, number>
  /** Whether the webhook that hung during the faults hangs again. */
  hangWebhook(hangs: boolean): void
}

export interface Round {
  hung: Hung
  /** The time until the last of the other endpoints had its last message. */
  tookMs: number
  /** The same time for each endpoint, including the time in which the machine ran other processes. */
  took: Record<string, number>
  /** Endpoints that did not have all messages in time. */
  late: string[]
}

export async function playRounds(tools: RoundTools): Promise<Round[]> {
  const { world, hangWebhook } = tools
  const rounds: Round[] = []
  let recovering: Hung | undefined
  for (const hung of [...PROVIDERS, WEBHOOK] as const) {
    world.providers.hang(...(hung === WEBHOOK ? [] : [hung]))
    hangWebhook(hung === WEBHOOK)
    rounds.push(await playRound(tools, hung, recovering))
    recovering = hung
  }
  hangWebhook(false)
  return rounds
}

export function judgeRounds(rounds: Round[]): string[] {
  return rounds
    .filter(({ late, tookMs }) => late.length > 0 || tookMs > WITHIN_MS)
    .map(({ hung, tookMs, took, late }) => {
      const slow = late.length > 0 ? `never: ${late.join(' ')}` : `after ${Math.round(tookMs)} ms`
      return `beside the hung provider ${hung} the last message came ${slow} (${JSON.stringify(took)})`
    })
}

/**
 * `recovering`: the provider that hung until now. Its own timeouts and retries are not over, so other rounds judge it.
 */
async function playRound(tools: RoundTools, hung: Hung, recovering: Hung | undefined): Promise<Round> {
  const { world } = tools
  const texts = Array.from({ length: BATCHES * BATCH }, (_, i) => `${hung}-${i}`)
  const startedAt = performance.now()
  const took: Record<string, number> = {}
  const elapsed = startFairTimer(...world.services.map(({ pid }) => pid))
  for (let from = 0; from < texts.length; from += BATCH) {
    const messages = texts.slice(from, from + BATCH).map((message) => {
      const kind = kindOf(message, texts)
      return { message, attributes: { kind }, groupId: kind }
    })
    await world.clients[0].post(`/v1/topics/${TOPIC}/messages`, { messages })
  }
  const judged = judgedEndpoints([hung, recovering])
  const late = () => {
    const isLate = lateEndpoints(tools, judged, texts)
    for (const name of judged)
      if (!isLate.includes(name)) took[name] ??= Math.round(performance.now() - startedAt)
    return isLate
  }
  await waitFor(() => late().length === 0, { timeoutMs: TIMEOUT_MS, intervalMs: 20 }).catch(() => undefined)
  return { hung, tookMs: elapsed(), took, late: late() }
}

/** All endpoints of other providers, a webhook, and a queue. */
function judgedEndpoints(left: (Hung | undefined)[]): string[] {
  const others = Object.entries(KIND_ENDPOINTS).filter(
    ([, { provider }]) => !left.some((name) => name === provider),
  )
  return [...others.map(([name]) => name), HEALTHY, QUEUE]
}

/** The judged endpoints that lack a message. */
function lateEndpoints({ world, worked }: RoundTools, judged: string[], texts: string[]): string[] {
  const arrived = arrivals(world, worked)
  const endpoints: Record<string, Endpoint> = KIND_ENDPOINTS
  return judged.filter((name) => {
    const only = endpoints[name]?.kind
    const wanted = texts.filter((text) => only === undefined || only === kindOf(text, texts))
    return wanted.some((text) => !arrived(name).has(text))
  })
}

/**
 * Chooses kinds so that both kinds of mail get some messages, but no more than their filters and their rate allow at
 * once.
 */
function kindOf(text: string, texts: string[]): Kind {
  return texts.indexOf(text) % 2 === 0 ? 'a' : 'c'
}
