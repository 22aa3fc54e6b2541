/** The traits of every endpoint kind. A protocol without traits does not compile. */
import { type ArnDefaults, isProtocol, PROTOCOLS, type Problem, type Protocol } from '@fantail/contracts'
import { FUNCTION_TRAITS, QUEUE_TRAITS, STREAM_TRAITS } from './managed-traits.ts'
import { MAIL_TRAITS, MOBILE_PUSH_TRAITS, SMS_TRAITS } from './person-traits.ts'
import type { ProtocolTraits, TakenSettings } from './protocol-traits.ts'
import { webhookTraits } from './webhook-traits.ts'

export const PROTOCOL_TRAITS: Record<Protocol, ProtocolTraits> = {
  http: webhookTraits('http'),
  https: webhookTraits('https'),
  sqs: QUEUE_TRAITS,
  lambda: FUNCTION_TRAITS,
  firehose: STREAM_TRAITS,
  email: MAIL_TRAITS,
  'email-json': MAIL_TRAITS,
  sms: SMS_TRAITS,
  application: MOBILE_PUSH_TRAITS,
}

export function traitsOf(name: string): ProtocolTraits | undefined {
  return isProtocol(name) ? PROTOCOL_TRAITS[name] : undefined
}

/** The error for a setting. Undefined if the protocol accepts it. Settings of an unknown protocol are not checked. */
export function refusedSetting(
  protocol: Protocol | undefined,
  setting: keyof TakenSettings,
): string | undefined {
  if (protocol === undefined || PROTOCOL_TRAITS[protocol].takes[setting]) return undefined
  const takers = PROTOCOLS.filter((other) => PROTOCOL_TRAITS[other].takes[setting])
  return `is for ${inWords(takers, 'and')} subscriptions only`
}

/** Whether an endpoint of this kind can get a token that confirms a subscription. */
export function canBeAsked(protocol: Protocol): boolean {
  const { confirmedBy } = PROTOCOL_TRAITS[protocol]
  return confirmedBy === 'endpoint' || confirmedBy === 'person'
}

/** Joins names as in a sentence. */
export function inWords(names: readonly string[], last: 'and' | 'or'): string {
  if (names.length < 2) return names.join()
  return `${names.slice(0, -1).join(', ')} ${last} ${names.at(-1)}`
}

export interface EndpointAddress {
  protocol: Protocol
  /** The full form: the ARN if a queue was named, else the given text. */
  endpoint: string
}

/**
 * Reads the endpoint of a subscription (checklist 136 to 139), or says why it is invalid. `given`: the protocol that
 * the caller named. Forbidden addresses are not refused here, but by each connect.
 */
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
