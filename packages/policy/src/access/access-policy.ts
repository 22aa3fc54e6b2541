/**
 * Resource policies of queues and topics. They decide whether a service or an account's key may act on one resource.
 * Supported are effect, principal, action, resource and conditions (access-conditions.ts).
 */
import { isObject, objectOf } from '@fantail/contracts'
import {
  type Asked,
  allOf,
  type ConditionVerdict,
  conditionsHold,
  isEither,
  isLike,
  opposite,
  patternsOf,
  textsOf,
} from './access-conditions.ts'
import type { ConditionKeys } from './condition-keys.ts'

export interface AccessRequest {
  /** A service that asks, as in `sns.amazonaws.com`. Absent: the caller is an account's key. */
  service?: string
  caller?: { account: string; arn: string }
  /** `sqs:SendMessage`. Letter case does not matter. */
  action: string
  resource: string
  /** Asked only for policies that name keys. */
  keys: ConditionKeys
}

/** `none`: no statement applies to the request. */
type AccessDecision = 'allow' | 'deny' | 'none'

type Statement = Record<string, unknown>

export interface AccessPolicy {
  statements: Statement[]
  /** Whether the policy’s version has policy variables. */
  hasVariables: boolean
}

export function parseAccessPolicy(text: string): AccessPolicy | undefined {
  const document = objectOf(text)
  if (!document) return undefined
  return {
    statements: listOf(document.Statement).filter(isObject),
    hasVariables: document.Version === '2012-10-17',
  }
}

/** A matching Deny counts before a matching Allow. */
export function decideAccess(policy: AccessPolicy, request: AccessRequest): AccessDecision {
  const effects = policy.statements.filter((statement) => concerns(policy, statement, request))
  if (effects.some(({ Effect }) => Effect === 'Deny')) return 'deny'
  return effects.some(({ Effect }) => Effect === 'Allow') ? 'allow' : 'none'
}

function concerns({ hasVariables }: AccessPolicy, statement: Statement, request: AccessRequest): boolean {
  const asked = { keys: request.keys, hasVariables }
  const wanted = request.action.toLowerCase()
  return (
    eitherOr(statement.Principal, statement.NotPrincipal, (principal) => namesWho(principal, request)) &&
    eitherOr(statement.Action, statement.NotAction, (given) =>
      textsOf(given).some((pattern) => isLike(wanted, pattern.toLowerCase())),
    ) &&
    maySpeak(
      statement,
      allOf([isAbout(statement, request.resource, asked), conditionsHold(statement.Condition, asked)]),
    )
  )
}

/** Whether the statement applies. What cannot be judged never allows, and always denies. */
function maySpeak({ Effect }: Statement, verdict: ConditionVerdict): boolean {
  return verdict === 'holds' || (verdict === 'unknown' && Effect === 'Deny')
}

function isAbout({ Resource, NotResource }: Statement, resource: string, asked: Asked): ConditionVerdict {
  const given = Resource === undefined ? NotResource : Resource
  if (given === undefined) return 'holds'
  const found = isEither(patternsOf(given, asked), (pattern) => isLike(resource, pattern))
  return Resource === undefined ? opposite(found) : found
}

/** Matches a member or its `Not…` form. A statement with neither applies to everything. */
function eitherOr(given: unknown, excluded: unknown, matches: (value: unknown) => boolean): boolean {
  if (given !== undefined) return matches(given)
  return excluded === undefined || !matches(excluded)
}

function namesWho(principal: unknown, { service, caller }: AccessRequest): boolean {
  if (principal === '*') return true
  if (!isObject(principal)) return false
  if (service !== undefined && textsOf(principal.Service).includes(service)) return true
  return textsOf(principal.AWS).some(
    (named) => named === '*' || (caller !== undefined && isOne(named, caller)),
  )
}

/** Whether the principal names the caller: by account number, by the account's root, or by its own ARN. */
function isOne(named: string, { account, arn }: { account: string; arn: string }): boolean {
  return named === account || named === arn || named === `arn:aws:iam::${account}:root`
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
