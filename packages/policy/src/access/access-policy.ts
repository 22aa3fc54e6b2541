/**
 * Resource policies of queues and topics. They decide whether a service or an account's key may act on one resource.
 * Supported are effect, principal, action, resource and conditions (access-conditions.ts).
 */
import { isObject } from '@fantail/contracts'
import { type ConditionVerdict, conditionsHold, isLike, textsOf } from './access-conditions.ts'

export interface AccessRequest {
  /** A service that asks, as in `sns.amazonaws.com`. Absent: the caller is an account's key. */
  service?: string
  caller?: { account: string; arn: string }
  /** `sqs:SendMessage`. Letter case does not matter. */
  action: string
  resource: string
  /** Condition keys in lower case: `aws:sourcearn`. */
  context: Readonly<Record<string, string>>
}

/** `none`: no statement applies to the request. */
type AccessDecision = 'allow' | 'deny' | 'none'

type Statement = Record<string, unknown>

export interface AccessPolicy {
  statements: Statement[]
}

/** undefined: the text is no policy. */
export function parseAccessPolicy(text: string): AccessPolicy | undefined {
  try {
    const document: unknown = JSON.parse(text)
    if (!isObject(document)) return undefined
    return { statements: listOf(document.Statement).filter(isObject) }
  } catch {
    return undefined
  }
}

/** A matching Deny counts before a matching Allow. */
export function decideAccess(policy: AccessPolicy, request: AccessRequest): AccessDecision {
  const effects = policy.statements.filter((statement) => concerns(statement, request))
  if (effects.some(({ Effect }) => Effect === 'Deny')) return 'deny'
  return effects.some(({ Effect }) => Effect === 'Allow') ? 'allow' : 'none'
}

function concerns(statement: Statement, request: AccessRequest): boolean {
  const { action, resource, context } = request
  const wanted = action.toLowerCase()
  return (
    eitherOr(statement.Principal, statement.NotPrincipal, (principal) => namesWho(principal, request)) &&
    eitherOr(statement.Action, statement.NotAction, (given) =>
      textsOf(given).some((pattern) => isLike(wanted, pattern.toLowerCase())),
    ) &&
    eitherOr(statement.Resource, statement.NotResource, (given) =>
      textsOf(given).some((pattern) => isLike(resource, pattern)),
    ) &&
    maySpeak(statement, conditionsHold(statement.Condition, context))
  )
}

/** Whether the statement applies. An unknown condition never allows, and always denies. */
function maySpeak({ Effect }: Statement, verdict: ConditionVerdict): boolean {
  return verdict === 'holds' || (verdict === 'unknown' && Effect === 'Deny')
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
