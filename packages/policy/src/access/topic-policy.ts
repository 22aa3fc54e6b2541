/** The access policies that topics may have: they name only actions on topics. */
import { isObject, objectOf } from '@fantail/contracts'
import { policyProblem } from './policy-grammar.ts'

/** Actions that the default policy allows the owner. */
export const TOPIC_OWNER_ACTIONS = [
  'GetTopicAttributes',
  'SetTopicAttributes',
  'AddPermission',
  'RemovePermission',
  'DeleteTopic',
  'Subscribe',
  'ListSubscriptionsByTopic',
  'Publish',
]

/** In lower case, because policies ignore case. */
const TOPIC_ACTIONS = [
  ...TOPIC_OWNER_ACTIONS,
  'Receive',
  'GetDataProtectionPolicy',
  'PutDataProtectionPolicy',
  'ListTagsForResource',
  'TagResource',
  'UntagResource',
].map((action) => action.toLowerCase())

const OUT_OF_SCOPE = 'Policy statement action out of service scope!'
const NO_POLICY = 'Policy Error: null'

/** In SNS's words. undefined: a topic may have the policy. */
export function topicPolicyProblem(text: string): string | undefined {
  const statement = objectOf(text)?.Statement
  if (typeof statement !== 'object' || statement === null) return NO_POLICY
  const statements: unknown[] = [statement].flat()
  if (!statements.every(isObject)) return NO_POLICY
  if (!statements.flatMap(({ Action = [] }) => Action).every(isInScope)) return OUT_OF_SCOPE
  const problem = policyProblem(text)
  return problem === undefined ? undefined : `Policy Error: ${problem}`
}

function isInScope(action: unknown): boolean {
  if (typeof action !== 'string') return false
  const [service = '', name, ...rest] = action.split(':')
  return rest.length === 0 && service.toLowerCase() === 'sns' && name !== undefined && isTopicAction(name)
}

/** Whether a topic's policy may contain this action: `Publish`, `*`, `Get*`. */
export function isTopicAction(action: string): boolean {
  const parts = action.toLowerCase().split('*')
  return TOPIC_ACTIONS.some((known) => matches(known, parts))
}

/** Whether a text begins with the first part, ends with the last, and has the others in between, in order. */
function matches(text: string, parts: string[]): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
