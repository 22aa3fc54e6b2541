/**
 * Protocols and endpoints of Subscribe (checklist 136 to 139). An endpoint is first checked as SNS does, so that a
 * client learns of its mistake. A kind whose settings this process lacks is refused after that.
 */
import type { AwsError } from '@fantail/aws-wire'
import {
  type ArnDefaults,
  ENDPOINT_CHARS_MAX,
  isProtocol,
  PROTOCOLS,
  type Protocol,
} from '@fantail/contracts'
import type { Attempters } from '@fantail/delivery'
import { type EndpointAddress, inWords, PROTOCOL_TRAITS } from '@fantail/policy'
import { invalidParameter, missingParameter, unprefixed } from '../wire/refusals.ts'

export interface GivenEndpoint {
  protocol: Protocol
  endpoint: string
  address: EndpointAddress
}

/** Checks that SNS has the protocol. The endpoint is checked only after the topic was found, as recorded. */
export function checkProtocol(protocol: unknown): Protocol {
  if (protocol === undefined) throw missingParameter('Protocol')
  const name = String(protocol)
  if (isProtocol(name)) return name
  throw invalidParameter(`Amazon SNS does not support this protocol string: ${name}`)
}

export function checkEndpoint(protocol: Protocol, endpoint: unknown, defaults: ArnDefaults): GivenEndpoint {
  const text = String(endpoint ?? '')
  return { protocol, endpoint: text, address: addressOf(protocol, text, defaults) }
}

/** Returns the endpoint. Throws if the protocol, or this endpoint, is not supported. */
export function checkServed({ protocol, address }: GivenEndpoint, attempters: Attempters): EndpointAddress {
  const attempter = attempters[address.protocol]
  if (attempter.lacks !== undefined) throw unservedProtocol(protocol, attempters)
  const refusal = attempter.refusalOf?.(address.endpoint)
  if (refusal !== undefined) throw invalidParameter(`Endpoint Reason: ${refusal}`)
  return address
}

function unservedProtocol(protocol: Protocol, attempters: Attempters): AwsError {
  const served = PROTOCOLS.filter((name) => attempters[name].lacks === undefined)
  const { lacks } = attempters[protocol]
  return invalidParameter(
    `Protocol Reason: this service delivers to ${inWords(served, 'and')} endpoints and cannot deliver to ${protocol}` +
      (lacks === undefined ? '' : `: ${lacks} is not set`),
  )
}

function addressOf(protocol: Protocol, endpoint: string, defaults: ArnDefaults): EndpointAddress {
  const syntax = PROTOCOL_TRAITS[protocol].endpoint
  const read = syntax.read(endpoint, defaults, false)
  if (read === undefined || (syntax.isUrl && !URL.canParse(endpoint))) {
    throw unprefixed(syntax.snsRefusal(endpoint))
  }
  if ('message' in read) throw invalidParameter(`Endpoint Reason: ${read.message}`)
  if (endpoint.length <= ENDPOINT_CHARS_MAX) return { protocol, ...read }
  throw invalidParameter(`Endpoint Reason: must have at most ${ENDPOINT_CHARS_MAX} characters`)
}
