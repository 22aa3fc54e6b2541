/**
 * The topic with an archive. A webhook gets replays of it while faults come, and fresh messages beside them. Some
 * messages are in the archive before the first fault, so that every replay must have them.
 */
import { waitFor } from '@fantail/test-kit'
import type { RestClient } from '../../harness/services/rest-client.ts'
import { hasOpenJobs } from '../world/redis-figures.ts'
import type { World } from '../world/world.ts'

export const ARCHIVE_TOPIC = 'chaos-archive'
export const REPLAYS = '/replays'
const EARLY = 60
const BATCH = 20
/** A few dozen messages of this length fill a block that waits for no others. */
const FILLER = 'x'.repeat(8_000)

export const archivedText = (name: string) => `${name} ${FILLER}`

export interface Archived {
  /** Id of the subscription that gets the replays. */
  subscription: string
  /** Names of the early messages. */
  early: string[]
}

export async function makeArchive(world: World): Promise<Archived> {
  const [client] = world.clients
  await client.put(`/v1/topics/${ARCHIVE_TOPIC}`, { archive: { days: 1 }, sealMessages: true })
  const subscription = await subscribeReplays(client, `${world.receiver.url}${REPLAYS}`)
  const early = Array.from({ length: EARLY }, (_, n) => `e${n}`)
  for (let from = 0; from < EARLY; from += BATCH) {
    const messages = early.slice(from, from + BATCH).map((name) => ({ message: archivedText(name) }))
    await client.post(`/v1/topics/${ARCHIVE_TOPIC}/messages`, { messages })
  }
  await waitFor(async () => !(await hasOpenJobs(world)), { what: 'the early messages to be kept' })
  return { subscription, early }
}

/** Returns the id of the subscription. */
export async function subscribeReplays(client: RestClient, endpoint: string): Promise<string> {
  const input = { endpoint, rawMessageDelivery: true }
  return (await client.post<{ id: string }>(`/v1/topics/${ARCHIVE_TOPIC}/subscriptions`, input)).id
}

/** The path and the body of the request for a replay of everything. */
export const replayRequest = (subscription: string, perSecond: number | null) => ({
  path: `/v1/subscriptions/${subscription}/resend`,
  body: { since: '2020-01-01T00:00:00Z', maxMessagesPerSecond: perSecond },
})
