/**
 * The kinds of endpoints. After a new name here, the compiler asks for:
 *
 * - its traits (policy/src/protocols/traits.ts), in a file of their own: syntax, rights, retry policy, settings,
 *   statuses
 * - its attempter (delivery/src/attempters/attempters.ts), in a file of its own; attempter.ts has the rules
 * - its row in the console's form (subscribe-form.tsx), after `npm run generate` and `tsc -p packages/console`; the
 *   words are in en.ts
 * - rows in the tests that list the kinds. The one in hanging-endpoints.test.ts needs an endpoint that never answers.
 *
 * The form of its endpoints is described in subscription-schemas.ts and in the guides. Its settings, all of them
 * optional, are in the `delivery` table of config/src/tables.ts, in attempters.ts, and in infra/compose.yaml.
 * Without them an `UnconfiguredAttempter` names the missing setting. Services, stores and scripts never compare
 * protocols; a test holds that (tests/repo/protocols.test.ts).
 */
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
