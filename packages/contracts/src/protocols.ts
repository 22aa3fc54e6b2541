/**
 * The kinds of endpoints. If a name is added here, the code does not compile until the kind has:
 *
 * - traits in policy/src/protocols/traits.ts. They are the syntax of its endpoints, rights, retry policy, settings and
 *   the meaning of statuses, and have a file of their own.
 * - an attempter in delivery/src/attempters/attempters.ts. It has a file of its own, and attempter.ts has the rules.
 * - words for the console's form, in console/src/i18n/en.ts. The compiler asks for them in `tsc -p packages/console`,
 *   after `npm run generate`.
 * - rows in the tests that list the kinds. The row in hanging-endpoints.test.ts needs an endpoint that never answers.
 *
 * Also describe the form of its endpoints in subscription-schemas.ts and in the guides. Its settings are optional. They
 * are in the `delivery` table of config/src/tables.ts, in attempters.ts, and in infra/compose.yaml. Without them an
 * `UnconfiguredAttempter` names the missing setting. Services, stores and scripts never compare protocols, which
 * tests/repo/protocols.test.ts checks.
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
