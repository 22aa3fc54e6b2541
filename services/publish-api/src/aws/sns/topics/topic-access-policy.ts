/**
 * A topic's access policy: it is stored, shown, and changed by statement. packages/access/src/access.ts enforces it.
 */
import { objectOf, parseArn, type TopicRecord } from '@fantail/contracts'
import { policyProblem } from '@fantail/policy'

export interface Statement {
  Sid?: unknown
  Action?: unknown
  [member: string]: unknown
}

export interface AccessPolicy {
  Statement?: Statement[] | Statement
  [member: string]: unknown
}

const OUT_OF_SCOPE = 'Policy statement action out of service scope!'

/** Actions that the default policy allows the owner. */
const OWNER_ACTIONS = [
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
  ...OWNER_ACTIONS,
  'Receive',
  'GetDataProtectionPolicy',
  'PutDataProtectionPolicy',
  'ListTagsForResource',
  'TagResource',
  'UntagResource',
].map((action) => action.toLowerCase())

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

export function accessPolicyProblem(text: string): string | undefined {
  const policy = objectOf(text) as AccessPolicy | undefined
  if (!policy || typeof policy.Statement !== 'object' || policy.Statement === null)
    return 'Policy Error: null'
  const statements = statementsOf(policy)
  if (statements.some((statement) => typeof statement !== 'object' || statement === null)) {
    return 'Policy Error: null'
  }
  if (!statements.flatMap(({ Action = [] }) => Action).every(isInScope)) return OUT_OF_SCOPE
  const problem = policyProblem(text)
  return problem === undefined ? undefined : `Policy Error: ${problem}`
}

function isInScope(action: unknown): boolean {
  if (typeof action !== 'string') return false
  const [service = '', name, ...rest] = action.split(':')
  return rest.length === 0 && service.toLowerCase() === 'sns' && name !== undefined && isTopicAction(name)
}

/** The topic's own policy, or else the default one. */
export function accessPolicyOf({ arn, attributes }: Pick<TopicRecord, 'arn' | 'attributes'>): string {
  return attributes.Policy ?? JSON.stringify(defaultPolicy(arn))
}

export function statementsOf({ Statement = [] }: AccessPolicy): Statement[] {
  return Array.isArray(Statement) ? Statement : [Statement]
}

function defaultPolicy(arn: string): AccessPolicy {
  return {
    Version: '2008-10-17',
    Id: '__default_policy_ID',
    Statement: [
      {
        Sid: '__default_statement_ID',
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: OWNER_ACTIONS.map((action) => `SNS:${action}`),
        Resource: arn,
        Condition: { StringEquals: { 'AWS:SourceOwner': parseArn(arn)?.account } },
      },
    ],
  }
}
