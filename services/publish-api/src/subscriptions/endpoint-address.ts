/** What a subscription may point to (checklist 136 to 139). Which addresses may be reached is checked at each connect.
 *  */
import {
  type ArnDefaults,
  isQueueName,
  type Problem,
  type Protocol,
  parseArn,
  queueArn,
} from '@fantail/contracts'

export interface EndpointAddress {
  protocol: Protocol
  /** The text given, or the ARN of a queue that was named. */
  endpoint: string
}

const URL_SCHEME = /^(https?):\/\/[^/]/i
/** What the URL parser would silently drop or change. */
const UNWRITABLE = /[\s\p{Cc}\\]/u

/** The address, or what is wrong with it. */
export function readEndpoint(
  endpoint: string,
  protocol: Protocol | undefined,
  defaults: ArnDefaults,
): EndpointAddress | Problem {
  const scheme = URL_SCHEME.exec(endpoint)?.[1]?.toLowerCase() as 'http' | 'https' | undefined
  if (scheme !== undefined) {
    const message = urlProblem(endpoint)
    if (message !== undefined) return { path: 'endpoint', message }
    return agreeing(protocol, scheme, endpoint)
  }
  if (parseArn(endpoint)?.service === 'sqs') return agreeing(protocol, 'sqs', endpoint)
  if (protocol === 'sqs' && isQueueName(endpoint)) return { protocol, endpoint: queueArn(endpoint, defaults) }
  return { path: 'endpoint', message: 'must be an http or https URL or the ARN of a queue' }
}

function agreeing(given: Protocol | undefined, found: Protocol, endpoint: string): EndpointAddress | Problem {
  if (given === undefined || given === found) return { protocol: found, endpoint }
  return { path: 'protocol', message: `must be ${found}, as the endpoint has it` }
}

function urlProblem(endpoint: string): string | undefined {
  if (UNWRITABLE.test(endpoint)) return 'must not hold spaces, control characters or backslashes'
  const url = URL.parse(endpoint)
  if (!url) return 'must be a URL'
  if (url.hostname.includes('_')) return 'must have a host name without underscores'
  if (url.port === '0') return 'must have a port other than 0'
  return undefined
}
