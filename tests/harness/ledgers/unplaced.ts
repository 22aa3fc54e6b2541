/**
 * Describes the deliveries that a ledger must account for but does not find. The ledger only counts deliveries that
 * were discarded, expired or quarantined. The API has their names, so they are listed last, after the lost deliveries.
 */
import { deliveriesOf, timelines } from '../runs/failure-report.ts'
import type { ServiceProcess } from '../services/service-process.ts'

export interface Unplaced {
  /** `<path> <text>` */
  key: string
  subscriptionId: string
  /** undefined: the publisher did not learn the id. */
  messageId: string | undefined
}

type Api = Pick<ServiceProcess, 'url'>

const SHOWN = 20
const MESSAGES_ASKED = 100
const ENDED = ['discarded', 'expired', 'quarantined']

export async function describeUnplaced(api: Api, unplaced: Unplaced[]): Promise<string> {
  const ended = await endedOf(api, messagesOf(unplaced).slice(0, MESSAGES_ASKED))
  const hasEnded = (one: Unplaced) => Number(ended.has(nameOf(one.messageId, one.subscriptionId)))
  const lostFirst = unplaced.toSorted((a, b) => hasEnded(a) - hasEnded(b))
  const keys = lostFirst.slice(0, SHOWN).map(({ key }) => key)
  return `missing: ${keys.join(', ')}\n${await timelines(api, messagesOf(lostFirst))}`
}

function messagesOf(unplaced: Unplaced[]): string[] {
  return [...new Set(unplaced.flatMap(({ messageId }) => messageId ?? []))]
}

/**
 * The deliveries that have ended, according to the API. If the API does not answer for a message, its timeline shows
 * the reason.
 */
async function endedOf(api: Api, ids: string[]): Promise<Set<string>> {
  const named = await Promise.all(
    ids.map(async (id) => {
      const deliveries = await deliveriesOf(api, id).catch(() => [])
      const ended = deliveries.filter(({ state }) => ENDED.includes(state))
      return ended.map(({ subscriptionId }) => nameOf(id, subscriptionId))
    }),
  )
  return new Set(named.flat())
}

function nameOf(messageId: string | undefined, subscriptionId: string | null): string {
  return `${messageId} ${subscriptionId}`
}
