/** The traits of every endpoint kind. A protocol without traits does not compile. */
import { isProtocol, PROTOCOLS, type Protocol } from '@fantail/contracts'
import { FUNCTION_TRAITS } from './function-traits.ts'
import { MAIL_TRAITS } from './mail-traits.ts'
import type { ProtocolTraits, TakenSettings } from './protocol-traits.ts'
import { PUSH_TRAITS } from './push-traits.ts'
import { QUEUE_TRAITS } from './queue-traits.ts'
import { SMS_TRAITS } from './sms-traits.ts'
import { STREAM_TRAITS } from './stream-traits.ts'
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
  application: PUSH_TRAITS,
}

/** Undefined if there is no protocol of this name. */
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
