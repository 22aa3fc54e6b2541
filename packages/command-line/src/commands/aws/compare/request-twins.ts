/**
 * Twins of webhooks: on each side a subscription with the same settings, whose requests come to this process. They
 * show headers and raw bodies, which queues do not.
 */
import type { Subscription } from '@fantail/client/api'
import { confirmAtSns, receiveSns, schemeOf, verifiedEvent } from '../sns-requests.ts'
import { filterOfHere, isOff, type Pair } from '../subscription-pairs.ts'
import { type Arrival, arrivalOf } from './compare-arrivals.ts'
import { type Sides, subscribeAtAws, subscribeHere, type Twin, type TwinTools } from './queue-twins.ts'

/** Time until SNS has asked each twin to confirm. Past it: the comparison fails. */
const CONFIRMATIONS_MS_MAX = 60_000

interface Listening extends Sides {
  /** The URL under which SNS and Fantail reach this process. */
  endpoint: string
  host: string
  port: number
  signal: AbortSignal
}

type RequestTwin = Twin & { confirmed: PromiseWithResolvers<void> }

export async function openRequestTwins(tools: TwinTools, pairs: Pair[], at: Listening): Promise<Twin[]> {
  if (pairs.length === 0) return []
  const alike = Map.groupBy(pairs, ({ here }) => JSON.stringify(settingsOf(here)))
  const twins = Array.from(alike.values(), (group): RequestTwin => {
    const [aws, fantail] = [new Map<string, Arrival>(), new Map<string, Arrival>()]
    return { pairs: group, aws, fantail, confirmed: Promise.withResolvers() }
  })
  const { topic } = at
  const requests = await receiveSns({
    host: at.host,
    port: at.port,
    handle: async ({ text, headers, path }) => {
      const [side, index] = path.split('/').slice(-2)
      const twin = twins[Number(index)]
      if (headers['x-amz-sns-message-type'] === 'SubscriptionConfirmation') {
        await confirmAtSns(await verifiedEvent(text, topic), topic)
        twin?.confirmed.resolve()
        return
      }
      const arrival = arrivalOf({ body: text, headers, at: Date.now() })
      if (arrival) (side === 'aws' ? twin?.aws : twin?.fantail)?.set(arrival.messageId, arrival)
    },
    failed: () => undefined,
    status: () => ({}),
  })
  tools.undo.push({ what: `the port ${requests.port}`, remove: () => requests.close() })
  for (const [index, twin] of twins.entries()) await subscribeTwin(tools, twin, { ...at, index })
  const signal = AbortSignal.any([at.signal, AbortSignal.timeout(CONFIRMATIONS_MS_MAX)])
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`SNS does not reach ${at.endpoint}`)), {
      once: true,
    })
  })
  await Promise.race([late, Promise.all(twins.map(({ confirmed }) => confirmed.promise))])
  return twins
}

async function subscribeTwin(
  tools: TwinTools,
  { pairs }: RequestTwin,
  { endpoint, index, ...sides }: Listening & { index: number },
): Promise<void> {
  const [first] = pairs
  if (!first) return
  const base = baseOf(endpoint)
  const { RawMessageDelivery, FilterPolicyScope, DeliveryPolicy } = first.aws.attributes
  // A subscription that was switched to Fantail has a filter policy that matches nothing.
  const FilterPolicy = isOff(first.aws) ? filterOfHere(first.here) : first.aws.attributes.FilterPolicy
  const given = Object.entries({ RawMessageDelivery, FilterPolicyScope, FilterPolicy, DeliveryPolicy })
  const Attributes = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  await subscribeAtAws(tools, sides, {
    Protocol: schemeOf(base),
    Endpoint: `${base}/aws/${index}`,
    Attributes,
    ReturnSubscriptionArn: true,
  })
  const settings = settingsOf(first.here)
  await subscribeHere(tools, sides, {
    ...settings,
    endpoint: `${base}/fantail/${index}`,
    redrivePolicy: null,
  })
}

function baseOf(endpoint: string): string {
  return endpoint.replace(/\/+$/, '')
}

/** Whether a comparison under the URL `base` has made the subscription of this endpoint. */
export function isRequestTwin(endpoint: string, base: string): boolean {
  return ['aws', 'fantail'].some((side) => endpoint.startsWith(`${baseOf(base)}/${side}/`))
}

/** The settings that decide what the endpoint gets. */
function settingsOf({ rawMessageDelivery, filterPolicy, filterPolicyScope, deliveryPolicy }: Subscription) {
  return {
    rawMessageDelivery,
    ...(filterPolicy !== null && { filterPolicy, filterPolicyScope }),
    ...(deliveryPolicy !== null && { deliveryPolicy }),
  }
}
