/**
 * Protocols and endpoints of Subscribe (checklist 136 to 139). SNS has nine protocols, and Fantail supports some of
 * them. For the others it first checks the endpoint as SNS does, so that a client learns of its mistake, and then
 * refuses. A kind whose settings this process lacks is refused in the same way.
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
import { invalidParameter, missingParameter, unprefixed } from '../refusals.ts'

type Check = (endpoint: string) => AwsError | undefined

const matches = (pattern: RegExp, refusal: (endpoint: string) => AwsError): Check => {
  return (endpoint) => (pattern.test(endpoint) ? undefined : refusal(endpoint))
}

/** Protocols of SNS without an endpoint kind here. */
const UNSERVED: Record<string, Check> = {
  application: matches(/^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:endpoint\/.+$/, (endpoint) =>
    invalidParameter(`Application endpoint arn invalid:${endpoint}`),
  ),
}

export interface GivenEndpoint {
  protocol: string
  endpoint: string
  /** null: this protocol is not supported. */
  address: EndpointAddress | null
}

/** Checks that SNS has the protocol. The endpoint is checked only after the topic was found, as recorded. */
export function checkProtocol(protocol: unknown): string {
  if (protocol === undefined) throw missingParameter('Protocol')
  const name = String(protocol)
  if (Object.hasOwn(UNSERVED, name) || isProtocol(name)) return name
  throw invalidParameter(`Amazon SNS does not support this protocol string: ${name}`)
}

/** `name`: a protocol that checkProtocol has accepted. */
export function checkEndpoint(name: string, endpoint: unknown, defaults: ArnDefaults): GivenEndpoint {
  const unserved = Object.hasOwn(UNSERVED, name) ? UNSERVED[name] : undefined
  const text = String(endpoint ?? '')
  if (!unserved)
    return { protocol: name, endpoint: text, address: addressOf(name as Protocol, text, defaults) }
  const refusal = unserved(text)
  if (refusal) throw refusal
  return { protocol: name, endpoint: text, address: null }
}

/** Returns the endpoint. Throws if the protocol, or this endpoint, is not supported. */
export function checkServed({ protocol, address }: GivenEndpoint, attempters: Attempters): EndpointAddress {
  const attempter = address && attempters[address.protocol]
  if (!attempter || attempter.lacks !== undefined) throw unservedProtocol(protocol, attempters)
  const refusal = attempter.refusalOf?.(address.endpoint)
  if (refusal !== undefined) throw invalidParameter(`Endpoint Reason: ${refusal}`)
  return address
}

function unservedProtocol(protocol: string, attempters: Attempters): AwsError {
  const served = PROTOCOLS.filter((name) => attempters[name].lacks === undefined)
  const lacks = isProtocol(protocol) ? attempters[protocol].lacks : undefined
  return invalidParameter(
    `Protocol Reason: this service delivers to ${inWords(served, 'and')} endpoints and cannot deliver to ${protocol}` +
      (lacks === undefined ? '' : `: ${lacks} is not set`),
  )
}

const noMailAddress = () => invalidParameter('Email address')
const notOfProtocol = () => invalidParameter('Endpoint must match the specified protocol')

/** SNS's text if the endpoint is invalid for the protocol. */
const UNREADABLE: Record<Protocol, (endpoint: string) => AwsError> = {
  http: notOfProtocol,
  https: notOfProtocol,
  sqs: () => invalidParameter('SQS endpoint ARN'),
  lambda: () => invalidParameter('Lambda endpoint ARN'),
  firehose: () => invalidParameter('Firehose endpoint ARN'),
  email: noMailAddress,
  'email-json': noMailAddress,
  sms: (endpoint) => unprefixed(`Invalid SMS endpoint: ${endpoint}`),
}

function addressOf(protocol: Protocol, endpoint: string, defaults: ArnDefaults): EndpointAddress {
  const syntax = PROTOCOL_TRAITS[protocol].endpoint
  const read = syntax.read(endpoint, defaults, false)
  if (read === undefined || (syntax.isUrl && !URL.canParse(endpoint))) {
    throw UNREADABLE[protocol](endpoint)
  }
  if ('message' in read) throw invalidParameter(`Endpoint Reason: ${read.message}`)
  if (endpoint.length <= ENDPOINT_CHARS_MAX) return { protocol, ...read }
  throw invalidParameter(`Endpoint Reason: must have at most ${ENDPOINT_CHARS_MAX} characters`)
}
