/** Tags, and attributes about encryption, of topics and queues. */
import type { Findings } from '../plan/findings.ts'
import type { Attributes } from './aws-source.ts'
import type { Translation } from './translation.ts'

/** AWS reserves such keys, and CloudFormation makes some. No API can set them. */
const RESERVED = /^aws:/i

/** undefined: the tags could not be read, and stay as they are. */
export function keptTags(
  arn: string,
  tags: Record<string, string> | undefined,
  findings: Findings,
): Record<string, string> | undefined {
  if (!tags) return undefined
  const kept = Object.entries(tags).filter(([key]) => !RESERVED.test(key))
  if (kept.length < Object.keys(tags).length)
    findings.add(
      { matter: 'details', what: 'lost', text: 'tags that begin with aws:, which are reserved' },
      arn,
    )
  return Object.fromEntries(kept)
}

const ENCRYPTED: Omit<Parameters<Findings['add']>[0], 'text'> = { matter: 'access', what: 'changed' }

/** The attributes that ask for encryption, as far as the server can fulfil them. */
export function sealedAttributes(
  kind: 'topic' | 'queue',
  arn: string,
  { KmsMasterKeyId, KmsDataKeyReusePeriodSeconds, SqsManagedSseEnabled }: Attributes,
  { here, findings }: Translation,
): Attributes {
  const isManaged = SqsManagedSseEnabled === 'true'
  if (!KmsMasterKeyId && !isManaged) return {}
  if (!here.server.hasMasterKey) {
    const by = KmsMasterKeyId ? `a key of KMS` : 'the key of SQS'
    const text = `messages are encrypted by ${by} at AWS, and are not here`
    findings.add(
      { ...ENCRYPTED, what: 'lost', text, remedy: 'set FANTAIL_MASTER_KEY, and import again' },
      arn,
    )
    return {}
  }
  if (!KmsMasterKeyId) {
    findings.add(
      { ...ENCRYPTED, text: 'messages are encrypted by the master key of this server, not by SQS' },
      arn,
    )
    return { SqsManagedSseEnabled: 'true' }
  }
  const text = `messages are encrypted by the master key of this server in the place of ${KmsMasterKeyId}`
  findings.add(
    { ...ENCRYPTED, text, remedy: 'FANTAIL_KMS_KEYS must list the key, or nothing can be sent' },
    arn,
  )
  const reuse = kind === 'queue' && KmsDataKeyReusePeriodSeconds
  return { KmsMasterKeyId, ...(reuse && { KmsDataKeyReusePeriodSeconds: reuse }) }
}
