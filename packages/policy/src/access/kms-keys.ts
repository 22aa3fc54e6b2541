/**
 * The names of KMS keys that topics and queues may use, as the operator lists them. All of them stand for Fantail's own
 * master key. The list only decides whether a name is known, and which accounts may use it.
 */

/** By alias, key id or ARN: the accounts that may use the key. `*`: all. `disabled`: nobody, for the time being. */
export type KmsKeys = ReadonlyMap<string, '*' | 'disabled' | readonly string[]>

export type KmsProblem = 'NotFound' | 'Disabled' | 'AccessDenied'

/** The keys of AWS itself, which everybody may use. */
const OWN = new Set(['alias/aws/sns', 'alias/aws/sqs'])
const ARN = /^arn:[^:]+:kms:[^:]*:[^:]*:(?:key\/)?(.+)$/

/** Why the account cannot use the key. Undefined: it can. `keyId`: as the attribute KmsMasterKeyId names it. */
export function kmsProblem(
  keyId: string,
  account: string,
  keys: KmsKeys = new Map(),
): KmsProblem | undefined {
  const name = ARN.exec(keyId)?.[1] ?? keyId
  if (OWN.has(name)) return undefined
  const use = keys.get(keyId) ?? keys.get(name)
  if (use === undefined) return 'NotFound'
  if (use === 'disabled') return 'Disabled'
  return use === '*' || use.includes(account) ? undefined : 'AccessDenied'
}
