/** Access policies come over as they are. Some of what they name does not exist here. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, objectOf, parseArn } from '@fantail/contracts'
import { keysOfCall, policyProblem, topicPolicyProblem, withoutEffect } from '@fantail/policy'
import type { Findings } from '../plan/findings.ts'
import type { Attributes } from './aws-source.ts'
import type { Translation } from './translation.ts'

type Kind = 'topic' | 'queue'

/** The text of the policy, if it may be set here. undefined: there is none, or SNS's default one. */
export function keptPolicy(
  kind: Kind,
  arn: string,
  text: string | undefined,
  findings: Findings,
): string | undefined {
  if (!text || isDefault(text)) return undefined
  const problem = kind === 'topic' ? topicPolicyProblem(text) : policyProblem(text)
  if (problem === undefined) return text
  findings.add({ matter: 'access', what: 'lost', text: `the access policy is refused: ${problem}` }, arn)
  return undefined
}

/** Each topic has this policy until somebody sets another one. It allows the owner what a key may do here anyway. */
function isDefault(text: string): boolean {
  const [only, ...others] = statementsOf(text)
  if (!only || others.length > 0) return false
  const { Sid, Effect, Principal, Condition } = only
  const isForAll = isDeepStrictEqual(Principal, { AWS: '*' })
  const [owner] = Object.values(
    isObject(Condition) && isObject(Condition.StringEquals) ? Condition.StringEquals : {},
  )
  const ofOwner = isDeepStrictEqual(Condition, { StringEquals: { 'AWS:SourceOwner': owner } })
  return Sid === '__default_statement_ID' && Effect === 'Allow' && isForAll && ofOwner
}

/** Attributes without effect, and policies that name what Fantail does not have. */
export function findAccess(
  kind: Kind,
  arn: string,
  { Policy, ...attributes }: Attributes,
  { findings }: Translation,
): void {
  for (const name of withoutEffect(kind, attributes))
    findings.add({ matter: 'details', what: 'changed', text: `${name} is kept, and has no effect here` }, arn)
  if (!Policy || isDefault(Policy)) return
  for (const name of withoutEffect(kind, { Policy })) {
    const service = name.replace('Policy for ', '')
    findings.add(
      {
        matter: 'messages',
        what: 'lost',
        text: `${service} may send to it at AWS, and sends nothing here`,
        remedy: 'let something that gets its events publish here with an API key',
      },
      arn,
    )
  }
  for (const statement of statementsOf(Policy)) findStatement(arn, statement, findings)
}

type Statement = Record<string, unknown>

function statementsOf(text: string): Statement[] {
  return [objectOf(text)?.Statement ?? []].flat().filter(isObject)
}

const ROLE = /^arn:[^:]+:(iam|sts)::\d{12}:(role|user|assumed-role)\//

function findStatement(
  arn: string,
  { Effect, Principal, NotPrincipal, Condition }: Statement,
  findings: Findings,
): void {
  const named = [Principal, NotPrincipal].flatMap((who) => (isObject(who) ? [who.AWS ?? []].flat() : []))
  if (named.some((principal) => ROLE.test(String(principal))))
    findings.add(
      {
        matter: 'access',
        what: 'changed',
        text: 'the access policy names users or roles of IAM, and keys have other names here',
        remedy: 'name keys as `arn:aws:iam::<account>:user/<key id>`',
      },
      arn,
    )
  if (Effect !== 'Deny') return
  const unknown = conditionKeysOf(Condition).filter((key) => !isKnown(arn, key))
  for (const key of unknown)
    findings.add(
      {
        matter: 'access',
        what: 'changed',
        text: `a Deny of the access policy asks for ${key}, which nobody knows here, so that it denies every call`,
      },
      arn,
    )
}

function conditionKeysOf(condition: unknown): string[] {
  if (!isObject(condition)) return []
  const names = Object.values(condition).flatMap((keys) => (isObject(keys) ? Object.keys(keys) : []))
  return [...new Set(names)]
}

/** Whether Fantail knows the value of a condition key in a call. */
function isKnown(resource: string, key: string): boolean {
  const account = parseArn(resource)?.account ?? ''
  const keys = keysOfCall({
    now: 0,
    resource,
    tags: {},
    // Whether there are organizations is a setting of the server.
    organizations: new Map([[account, '']]),
    account,
    principalArn: '',
    userName: '',
    isSecure: true,
    remoteAddress: '',
    header: () => undefined,
    ofAction: undefined,
  })
  return keys(key.toLowerCase()) !== undefined
}
