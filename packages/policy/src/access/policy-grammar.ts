/**
 * The grammar of access policies, checked before one is stored. AWS refuses the same texts. If they were stored, they
 * could mean more or less than they say: only the last of two members with one name counts, and a misspelt Deny denies
 * nothing.
 */
import { endOfText, isObject, objectOf } from '@fantail/contracts'

const VERSIONS: readonly unknown[] = [undefined, '2008-10-17', '2012-10-17']
const EFFECTS: readonly unknown[] = ['Allow', 'Deny']
const POLICY_MEMBERS = ['Version', 'Id', 'Statement']
const STATEMENT_MEMBERS = [
  ...['Sid', 'Effect', 'Principal', 'NotPrincipal', 'Action', 'NotAction', 'Resource', 'NotResource'],
  'Condition',
]
const PRINCIPALS = ['AWS', 'Service', 'Federated', 'CanonicalUser']

export function policyProblem(text: string): string | undefined {
  const policy = objectOf(text)
  if (!policy) return 'the policy is not a JSON object'
  const twice = repeatedMember(text)
  if (twice !== undefined) return `${twice} is given twice in one object`
  const unknown = unknownMember(policy, POLICY_MEMBERS)
  if (unknown !== undefined) return `a policy has no member ${unknown}`
  if (!VERSIONS.includes(policy.Version)) return 'Version must be 2012-10-17 or 2008-10-17'
  if (policy.Statement === undefined) return 'Statement is missing'
  return firstProblem([policy.Statement].flat(), statementProblem)
}

function statementProblem(statement: unknown): string | undefined {
  if (!isObject(statement)) return 'a statement is not an object'
  const unknown = unknownMember(statement, STATEMENT_MEMBERS)
  if (unknown !== undefined) return `a statement has no member ${unknown}`
  if (!EFFECTS.includes(statement.Effect)) return 'Effect must be Allow or Deny'
  return (
    firstProblem(['Principal', 'Action', 'Resource'], (name) => pairProblem(statement, name)) ??
    firstProblem([statement.Principal, statement.NotPrincipal], principalProblem) ??
    conditionProblem(statement.Condition)
  )
}

/** A member and its `Not…` form. A policy belongs to one resource, so only the resource may be left out. */
function pairProblem(statement: Record<string, unknown>, name: string): string | undefined {
  const given = [name, `Not${name}`].filter((one) => statement[one] !== undefined)
  if (given.length === 2) return `a statement must not have both ${name} and Not${name}`
  if (given.length === 0) return name === 'Resource' ? undefined : `a statement needs ${name} or Not${name}`
  const [member = ''] = given
  if (name === 'Principal' || areTexts(statement[member])) return undefined
  return `${member} must be a text or a list of texts`
}

function principalProblem(principal: unknown): string | undefined {
  if (principal === undefined || principal === '*') return undefined
  if (!isObject(principal) || Object.keys(principal).length === 0) return 'a principal must be * or an object'
  const unknown = unknownMember(principal, PRINCIPALS)
  if (unknown !== undefined) return `a principal has no member ${unknown}`
  return firstProblem(Object.entries(principal), ([kind, named]) => {
    if (!areTexts(named)) return `${kind} of a principal must be a text or a list of texts`
    const partial = [named].flat().find((one) => /[*?]/.test(one) && !(one === '*' && kind === 'AWS'))
    return partial === undefined ? undefined : `a principal cannot be a pattern: ${partial.slice(0, 100)}`
  })
}

function conditionProblem(condition: unknown): string | undefined {
  if (condition === undefined) return undefined
  if (!isObject(condition)) return 'Condition must be an object'
  return firstProblem(Object.entries(condition), ([operator, keys]) => {
    const hasKeys = isObject(keys) && Object.keys(keys).length > 0
    return hasKeys ? undefined : `${operator.slice(0, 100)} of a condition must be an object with keys`
  })
}

function areTexts(value: unknown): value is string | string[] {
  const texts = [value].flat()
  return texts.length > 0 && texts.every((text) => typeof text === 'string')
}

function unknownMember(object: object, known: readonly string[]): string | undefined {
  return Object.keys(object)
    .find((name) => !known.includes(name))
    ?.slice(0, 100)
}

function firstProblem<T>(items: readonly T[], problemOf: (item: T) => string | undefined) {
  for (const item of items) {
    const problem = problemOf(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

const BEFORE_VALUE = /\s*:/y

/** A name that one object of the JSON text has twice. `JSON.parse` would drop the first of them silently. */
function repeatedMember(text: string): string | undefined {
  /** The members of the objects around the place. Lists have none. */
  const around: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') around.push(new Set())
    if (character === '}' || character === ']') around.pop()
    if (character !== '"') continue
    const end = endOfText(text, at)
    BEFORE_VALUE.lastIndex = end + 1
    if (BEFORE_VALUE.test(text)) {
      const name: string = JSON.parse(text.slice(at, end + 1))
      const members = around.at(-1)
      if (members?.has(name)) return name.slice(0, 100)
      members?.add(name)
    }
    at = end
  }
  return undefined
}
