/** Reads the endpoint of a subscription (checklist 136 to 139). Each connect checks which addresses may be reached. */
import { type ArnDefaults, PROTOCOLS, type Problem, type Protocol } from '@fantail/contracts'
import { inWords, PROTOCOL_TRAITS } from './traits.ts'

export interface EndpointAddress {
  protocol: Protocol
  /** In full: the ARN of a queue that was named, else the text given. */
  endpoint: string
}

/** The address, or what is wrong with it. `given`: the protocol that the caller named. */
export function readEndpoint(
  text: string,
  given: Protocol | undefined,
  place: ArnDefaults,
): EndpointAddress | Problem {
  // First the one that was named: several kinds may share a syntax.
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
