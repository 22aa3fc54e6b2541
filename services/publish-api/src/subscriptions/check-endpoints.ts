/** Says of endpoints whether they could be subscribed on this server. Nothing is made. */
import { type Protocol, parsePlatformEndpointArn } from '@fantail/contracts'
import { readEndpoint } from '@fantail/policy'
import { refusedHost, unreachable } from './outbound.ts'
import { NO_PLATFORM_ENDPOINT, newSubscriptionProblems, type SubscribeTools } from './subscribe.ts'

interface Candidate {
  endpoint: string
  protocol?: Protocol | undefined
}

/** The problem of each endpoint, in the same order. null: it could be subscribed. */
export function endpointProblems(deps: SubscribeTools, endpoints: Candidate[]): Promise<(string | null)[]> {
  return Promise.all(endpoints.map((candidate) => problemOf(deps, candidate)))
}

async function problemOf(
  deps: SubscribeTools,
  { endpoint: text, protocol }: Candidate,
): Promise<string | null> {
  const [problem] = newSubscriptionProblems(deps, { endpoint: text, protocol })
  if (problem) return `${problem.path} ${problem.message}`
  const address = readEndpoint(text, protocol, deps.settings.arn)
  if ('path' in address) return `${address.path} ${address.message}`
  const { endpoint } = address
  const refused = refusedHost(deps.addressGuard, endpoint)
  if (refused) return `endpoint ${unreachable(refused)}`
  const isMissing = parsePlatformEndpointArn(endpoint) && !(await deps.platformEndpoints.get(endpoint))
  return isMissing ? `endpoint ${NO_PLATFORM_ENDPOINT}` : null
}
