/** The kinds of endpoints. Each has its traits (packages/policy) and its attempter (packages/delivery). */
export const PROTOCOLS = [
  'http',
  'https',
  'sqs',
  'lambda',
  'firehose',
  'email',
  'email-json',
  'sms',
  'application',
] as const

export type Protocol = (typeof PROTOCOLS)[number]

export function isProtocol(name: unknown): name is Protocol {
  return PROTOCOLS.some((protocol) => protocol === name)
}
