/**
 * Resource policies of queues and topics, as far as they decide whether one service may act for one resource: effect,
 * principal, action, resource and the condition operators on strings, ARNs and booleans that such policies use. A
 * condition by another operator (addresses, dates) is taken not to hold, so that what it says is neither allowed nor denied.
 */

export interface AccessRequest {
  /** Who asks: a service, as in `sns.amazonaws.com`. */
  service: string
  /** `sqs:SendMessage`; letter case does not matter. */
  action: string
  resource: string
  /** Condition keys in lower case: `aws:sourcearn`. */
  context: Readonly<Record<string, string>>
}

/** `none`: no statement is about the request. */
export type AccessDecision = 'allow' | 'deny' | 'none'

type Statement = Record<string, unknown>

export interface AccessPolicy {
  statements: Statement[]
}

/** undefined where the text is no policy. */
export function parseAccessPolicy(text: string): AccessPolicy | undefined {
  try {
    const document: unknown = JSON.parse(text)
    if (!isObject(document)) return undefined
    return { statements: listOf(document.Statement).filter(isObject) }
  } catch {
    return undefined
  }
}

/** Deny over allow over nothing. */
export function decideAccess(policy: AccessPolicy, request: AccessRequest): AccessDecision {
  const effects = policy.statements.filter((statement) => concerns(statement, request))
  if (effects.some(({ Effect }) => Effect === 'Deny')) return 'deny'
  return effects.some(({ Effect }) => Effect === 'Allow') ? 'allow' : 'none'
}

function concerns(statement: Statement, request: AccessRequest): boolean {
  const { service, action, resource, context } = request
  const wanted = action.toLowerCase()
  return (
    eitherOr(statement.Principal, statement.NotPrincipal, (principal) => namesService(principal, service)) &&
    eitherOr(statement.Action, statement.NotAction, (given) =>
      textsOf(given).some((pattern) => isLike(wanted, pattern.toLowerCase())),
    ) &&
    eitherOr(statement.Resource, statement.NotResource, (given) =>
      textsOf(given).some((pattern) => isLike(resource, pattern)),
    ) &&
    conditionsHold(statement.Condition, context)
  )
}

/** A member or its `Not…` twin; a statement with neither is about everything. */
function eitherOr(given: unknown, excluded: unknown, matches: (value: unknown) => boolean): boolean {
  if (given !== undefined) return matches(given)
  return excluded === undefined || !matches(excluded)
}

function namesService(principal: unknown, service: string): boolean {
  if (principal === '*') return true
  if (!isObject(principal)) return false
  return textsOf(principal.Service).includes(service) || textsOf(principal.AWS).includes('*')
}

function conditionsHold(condition: unknown, context: AccessRequest['context']): boolean {
  if (condition === undefined) return true
  if (!isObject(condition)) return false
  return Object.entries(condition).every(([operator, keys]) => {
    if (!isObject(keys)) return false
    return Object.entries(keys).every(([key, values]) => {
      const name = key.toLowerCase()
      const present = Object.hasOwn(context, name) ? context[name] : undefined
      return holds(operator, present, textsOf(values))
    })
  })
}

type Comparison = (value: string, pattern: string) => boolean

const COMPARISONS: Record<string, Comparison> = {
  StringEquals: (value, pattern) => value === pattern,
  StringEqualsIgnoreCase: (value, pattern) => value.toLowerCase() === pattern.toLowerCase(),
  StringLike: isLike,
  // AWS has these two behave alike.
  ArnEquals: isArnLike,
  ArnLike: isArnLike,
  Bool: (value, pattern) => value.toLowerCase() === pattern.toLowerCase(),
}

const OPERATOR = /^(String|Arn|Bool)(Not)?(\w*?)(IfExists)?$/

function holds(operator: string, value: string | undefined, patterns: string[]): boolean {
  if (operator === 'Null') return patterns.includes(String(value === undefined))
  const [, kind = '', not, rest = '', ifExists] = OPERATOR.exec(operator) ?? []
  const compare = COMPARISONS[kind + rest]
  if (compare === undefined) return false
  // A key that is not there differs from every value.
  if (value === undefined) return not !== undefined || ifExists !== undefined
  const equal = patterns.some((pattern) => compare(value, pattern))
  return not === undefined ? equal : !equal
}

const ARN_PARTS = 6

function isArnLike(value: string, pattern: string): boolean {
  const [values, patterns] = [arnParts(value), arnParts(pattern)]
  return values.length === patterns.length && values.every((part, i) => isLike(part, patterns[i] ?? ''))
}

/** The last part keeps its colons. */
function arnParts(arn: string): string[] {
  const parts = arn.split(':')
  return [...parts.slice(0, ARN_PARTS - 1), parts.slice(ARN_PARTS - 1).join(':')]
}

/** `*` stands for any text, `?` for one character.. */
function isLike(text: string, pattern: string): boolean {
  let [at, from, star, retryAt] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from++
      retryAt = at
    } else if (from < pattern.length && (pattern[from] === '?' || pattern[from] === text[at])) {
      from++
      at++
    } else if (star >= 0) {
      from = star + 1
      at = ++retryAt
    } else {
      return false
    }
  }
  while (pattern[from] === '*') from++
  return from === pattern.length
}

function textsOf(value: unknown): string[] {
  return listOf(value).flatMap((item) =>
    typeof item === 'string' || typeof item === 'boolean' || typeof item === 'number' ? [String(item)] : [],
  )
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
