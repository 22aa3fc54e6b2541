/** The use of a KMS key's name by a topic or queue that stores a message, with the texts of AWS KMS. */
import { FantailError, parseArn } from '@fantail/contracts'
import { type KmsProblem, kmsProblem } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'

export class KmsError extends FantailError {
  readonly problem: KmsProblem

  constructor(problem: KmsProblem, keyId: string) {
    const code = `(Service: AWSKMS; Status Code: 400; Error Code: ${problem}Exception)`
    super('key_unavailable', `${TEXTS[problem](keyId)} ${code}`)
    this.name = 'KmsError'
    this.problem = problem
  }
}

const TEXTS: Record<KmsProblem, (keyId: string) => string> = {
  NotFound: (keyId) =>
    keyId.includes('alias/') ? `Alias ${keyId} is not found.` : `Key '${keyId}' does not exist`,
  Disabled: (keyId) => `${keyId} is disabled.`,
  AccessDenied: () =>
    'The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you are not allowed to access.',
}

interface Resource {
  arn: string
  attributes: Record<string, string>
}

/** Throws a KmsError if the account of the topic or queue may not use the key that it names. */
export function checkKmsUse({ settings }: Pick<ApiDeps, 'settings'>, { arn, attributes }: Resource): void {
  const keyId = attributes.KmsMasterKeyId
  if (!keyId) return
  const problem = kmsProblem(keyId, parseArn(arn)?.account ?? '', settings.kmsKeys)
  if (problem) throw new KmsError(problem, keyId)
}
