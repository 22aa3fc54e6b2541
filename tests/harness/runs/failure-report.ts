/**
 * The report for a failed test: what Fantail knew about its latest messages and its lanes, from the API. A service is
 * often down when a test fails. If the API does not answer, the report says why.
 */
import type { ServiceProcess } from '../services/service-process.ts'

const MESSAGES_SHOWN = 5
/** The newest messages that are checked, to find those with deliveries that have not ended. */
const MESSAGES_ASKED = 50
const DELIVERIES_SHOWN = 20
const LANES_SHOWN = 20
const ANSWER_TIMEOUT_MS = 3_000
const OPEN_STATES = ['waiting', 'inFlight']

type Api = Pick<ServiceProcess, 'url' | 'logLines'>
type Fields = Record<string, unknown>

interface Delivery extends Fields {
  subscriptionId: string | null
  state: string
}

interface Subscription {
  id: string
  endpoint: string
  status: string
  lane: { waiting: number; inFlight: number }
}

/** Timelines of the latest messages, and the figures of all lanes. */
export async function failureReport(api: Api): Promise<string> {
  const parts = await Promise.all([timelinesOfLatest(api, publishedIds(api)), lanesReport(api)])
  return parts.join('\n')
}

/** The deliveries of each of these messages, one line per delivery. */
export async function timelines(api: Pick<Api, 'url'>, ids: string[]): Promise<string> {
  const shown = ids.slice(0, MESSAGES_SHOWN)
  return (await Promise.all(shown.map((id) => timeline(api, id)))).map(({ text }) => text).join('\n')
}

/** First page of the message's deliveries, as the API answers it. */
export async function deliveriesOf(api: Pick<Api, 'url'>, id: string): Promise<Delivery[]> {
  return (await ask<{ deliveries: Delivery[] }>(api, `/v1/messages/${id}/deliveries`)).deliveries
}

async function timelinesOfLatest(api: Api, ids: string[]): Promise<string> {
  if (ids.length === 0) return 'messages: the log of the API names none'
  const found = await Promise.all(ids.slice(-MESSAGES_ASKED).map((id) => timeline(api, id)))
  const open = found.filter(({ hasEnded }) => !hasEnded)
  const shown = (open.length > 0 ? open : found).slice(-MESSAGES_SHOWN)
  const head = `messages: ${ids.length} published, ${open.length} of the last ${found.length} open or unknown`
  return [head, ...shown.map(({ text }) => text)].join('\n')
}

async function timeline(api: Pick<Api, 'url'>, id: string): Promise<{ hasEnded: boolean; text: string }> {
  try {
    const deliveries = await deliveriesOf(api, id)
    const rows = deliveries.slice(0, DELIVERIES_SHOWN).map((delivery) => `  ${JSON.stringify(delivery)}`)
    const text = [`message ${id}: ${deliveries.length} deliveries`, ...rows].join('\n')
    return { hasEnded: !deliveries.some(({ state }) => OPEN_STATES.includes(state)), text }
  } catch (error) {
    return { hasEnded: false, text: `message ${id}: ${reasonOf(error)}` }
  }
}

/** Only lanes that are not empty. */
async function lanesReport(api: Api): Promise<string> {
  try {
    const { subscriptions } = await ask<{ subscriptions: Subscription[] }>(api, '/v1/subscriptions?limit=100')
    const busy = subscriptions.filter(({ lane }) => lane.waiting + lane.inFlight > 0)
    const lines = busy
      .slice(0, LANES_SHOWN)
      .map(({ id, endpoint, status, lane }) => `  ${id} ${endpoint} ${status} ${JSON.stringify(lane)}`)
    return [`lanes: ${busy.length} of the first ${subscriptions.length} hold deliveries`, ...lines].join('\n')
  } catch (error) {
    return `lanes: ${reasonOf(error)}`
  }
}

/** Ids in the API's log lines, oldest first. */
function publishedIds(api: Api): string[] {
  return api
    .logLines()
    .filter(({ msg }) => msg === 'message.published')
    .flatMap(({ messageId, messageIds }) => (messageIds as string[] | undefined) ?? [String(messageId)])
}

async function ask<T>({ url }: Pick<Api, 'url'>, path: string): Promise<T> {
  const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${text}`)
  return JSON.parse(text) as T
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
