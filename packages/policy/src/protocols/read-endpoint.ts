/**
 * Reads the endpoint of a subscription (checklist 136 to 139). Forbidden addresses are not refused here, but by each
 * connect.
 */
import { type ArnDefaults, PROTOCOLS, type Problem, type Protocol } from '@fantail/contracts'
import { inWords, PROTOCOL_TRAITS } from './traits.ts'

export interface EndpointAddress {
  protocol: Protocol
  /** The full form: the ARN if a queue was named, else the given text. */
  endpoint: string
}

/** The endpoint, or the reason why it is invalid. `given`: the protocol that the caller named. */
export function readEndpoint(
  text: string,
  given: Protocol | undefined,
  place: ArnDefaults,
): EndpointAddress | Problem {
  // The named protocol is tried first, because several kinds may share a syntax.
  for (const protocol of given === undefined ? PROTOCOLS : [given, ...PROTOCOLS]) {
    const read = PROTOCOL_TRAITS[protocol].endpoint.read(text, place, given === protocol)
    if (read === undefined) continue
    if ('message' in read) return { path: 'endpoint', ...read }
    if (given === undefined || given === protocol) return { protocol, ...read }
    return { path: 'protocol', message: `must be ${protocol}, as the endpoint has it` }
  }
  return { path: 'endpoint', message: `must be ${inWords(SYNTAXES, 'or')}` }
}

const SYNTAXES = [...new Set(PROTOCOLS.map((protocol) => PROTOCOL_TRAITS[protocol].endpoint.name))]
