/** Traits of webhooks: an attempt is a request by HTTP or HTTPS. */
import { RETRY_ON_DEFAULT, type ResultClass, SYSTEM_POLICY } from '@fantail/contracts'
import type { EndpointSyntax, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'
import { isRetriedOn } from './retry-on.ts'

type Scheme = 'http' | 'https'

const SYNTAX = 'an http or https URL'
const URL_SCHEME = /^(https?):\/\/[^/]/i
/** The URL parser would silently drop or change these characters. */
const UNWRITABLE = /[\s\p{Cc}\\]/u

export function webhookTraits(scheme: Scheme): ProtocolTraits {
  return {
    endpoint: syntaxOf(scheme),
    defaultPolicy: SYSTEM_POLICY,
    takes: {
      rawDelivery: true,
      deliveryPolicy: true,
      rate: true,
      pacing: true,
      outbound: true,
      webhookKeys: true,
    },
    rightsOf: () => [],
    confirmedBy: 'endpoint',
    retentionFloorSeconds: 0,
    classifyStatus,
    fifo: { topics: 'extension', sendsFollowers: false },
    isQueue: false,
    redisTrips: 0,
    reports: {
      feedback: 'HTTP',
      byApplication: false,
      byAccount: false,
      failures: 'attempts',
      providerResponse: (text) => text ?? '',
    },
  }
}

function syntaxOf(scheme: Scheme): EndpointSyntax {
  return {
    name: SYNTAX,
    isUrl: true,
    read: (text) => (schemeOf(text) === scheme ? readUrl(text) : undefined),
    snsRefusal: () => 'Invalid parameter: Endpoint must match the specified protocol',
  }
}

function schemeOf(text: string): string | undefined {
  return URL_SCHEME.exec(text)?.[1]?.toLowerCase()
}

/** Why requests to this URL are impossible. Undefined: they are possible. */
export function webhookUrlProblem(text: string): string | undefined {
  return schemeOf(text) === undefined ? `must be ${SYNTAX}` : urlProblem(text)
}

function readUrl(text: string): ReadEndpoint {
  const message = urlProblem(text)
  return message === undefined ? { endpoint: text } : { message }
}

function urlProblem(endpoint: string): string | undefined {
  if (UNWRITABLE.test(endpoint)) return 'must not hold spaces, control characters or backslashes'
  const url = URL.parse(endpoint)
  if (!url) return 'must be a URL'
  if (url.hostname.includes('_')) return 'must have a host name without underscores'
  if (url.port === '0') return 'must have a port other than 0'
  return undefined
}

/**
 * Redirects are not followed, so a 3xx is as final as any 4xx. A 1xx as the last answer means that the server is
 * broken.
 */
export function classifyStatus(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  const retryable = statusCode < 200 || isRetriedOn(statusCode, RETRY_ON_DEFAULT)
  return retryable ? 'retry' : 'permanent'
}
