/**
 * Signing secrets, headers and whole addresses of endpoints. They are set by calls of their own, because people read
 * the document, the findings and the steps. A mark in the metadata of each subscription tells a later import whether
 * Svix has others meanwhile.
 */
import { createHmac } from 'node:crypto'
import { type Client, createWebhookKey, type Subscription, updateSubscription } from '@fantail/client/api'
import { isWebhookSecret, outboundHeaderProblems } from '@fantail/policy'
import type { Findings } from '../plan/findings.ts'
import type { SvixEndpoint } from './svix-source.ts'

/** Members of the metadata that an import sets. */
export const MEMBERS = {
  application: 'svixApplication',
  endpoint: 'svixEndpoint',
  uid: 'svixUid',
  state: 'svixState',
  mark: 'svixSecrets',
} as const

export interface EndpointSecrets {
  /** The id at Svix, by which the subscription is found. */
  endpointId: string
  /** The address without credentials, and the topic. */
  shown: string
  topic: string
  /** With credentials, if it has any. */
  address: string
  /** Absent: Svix does not show it. */
  secret?: string
  headers: Record<string, string>
  /** Says nothing about the others, but changes with each of them. */
  mark: string
}

interface About {
  findings: Findings
  subject: string
  topic: string
  shown: string
  address: string
}

const MARK_CHARS = 16

export function secretsOf(endpoint: SvixEndpoint, about: About): EndpointSecrets {
  const { findings, subject, topic, shown, address } = about
  const { id, key } = endpoint
  const headers = headersOf(endpoint, { findings, subject })
  const isShared = isWebhookSecret(key)
  if (!isShared)
    findings.add(
      {
        matter: 'requests',
        what: 'lost',
        text: 'secrets that Svix does not show, such as private keys of key pairs',
        remedy: 'make keys by POST …/webhook-keys, and give them to the receivers',
      },
      subject,
    )
  const mark = createHmac('sha256', key).update(JSON.stringify([address, ...Object.entries(headers)]))
  return {
    endpointId: id,
    shown,
    topic,
    address,
    ...(isShared && { secret: key }),
    headers,
    mark: mark.digest('hex').slice(0, MARK_CHARS),
  }
}

function headersOf(
  { headers, sensitive }: SvixEndpoint,
  { findings, subject }: Pick<About, 'findings' | 'subject'>,
): Record<string, string> {
  const remedy = 'set them in `outbound.headers` of the subscription'
  for (const name of sensitive)
    findings.add(
      { matter: 'requests', what: 'lost', text: 'headers whose values Svix hides', remedy },
      `${subject} ${name}`,
    )
  const problems = outboundHeaderProblems(headers)
  for (const { name, message } of problems)
    findings.add(
      { matter: 'requests', what: 'lost', text: `headers: each ${message}` },
      name === '' ? subject : `${subject} ${name}`,
    )
  const refused = new Set(problems.map(({ name }) => name))
  if (refused.has('')) return {}
  const kept = Object.entries(headers).filter(([name]) => !refused.has(name))
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Sets all of them. The mark comes last, so that an import which was interrupted does it again. */
export async function setSecrets(
  client: Client,
  { address, secret, headers, mark }: EndpointSecrets,
  { id, endpoint, metadata, outbound }: Subscription,
): Promise<void> {
  const path = { id }
  if (endpoint !== address) await updateSubscription({ client, path, body: { endpoint: address } })
  if (secret !== undefined) await createWebhookKey({ client, path, body: { secret } })
  const hasHeaders = Object.keys(headers).length > 0
  const changed = (hasHeaders || outbound !== null) && { outbound: { headers: hasHeaders ? headers : null } }
  const body = { metadata: { ...metadata, [MEMBERS.mark]: mark }, ...changed }
  await updateSubscription({ client, path, body })
}
