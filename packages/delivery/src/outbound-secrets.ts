/**
 * How an endpoint is reached, taken apart for keeping: what is no secret stands in the record, the rest beside it, sealed
 * for this endpoint of this topic and put together again where an attempt is made.
 */
import type { ConsumerRecord, OutboundSettings, SubscriptionRecord } from '@fantail/contracts'
import { hasCredentials, maskCredentials } from './endpoint-credentials.ts'
import type { OutboundOptions } from './outbound-route.ts'

/** What of a vault is needed here. */
export interface Sealing {
  seal(plaintext: string, context: string): string
  open(sealed: string, context: string): string
}

export interface Reached extends OutboundOptions {
  /** As subscribed, credentials included. */
  url: string
}

export type KeptOutbound = Required<Pick<SubscriptionRecord, 'outbound' | 'sealed'>>
type Place = Pick<SubscriptionRecord, 'topicArn' | 'endpoint'>

interface Secrets {
  url?: string
  proxy?: string
  privateKey?: string
  headers?: Record<string, string>
}

/** There is something secret, and no master key to seal it with. */
export class NoVaultError extends Error {
  constructor(what = 'seal secrets') {
    super(`there is no master key (FANTAIL_MASTER_KEY) to ${what} with`)
    this.name = 'NoVaultError'
  }
}

/** Whose secrets they are; `endpoint` as it is kept. */
export function outboundContext({ topicArn, endpoint }: Place): string {
  return `subscription ${topicArn} ${endpoint}`
}

/** Of the URL of a queue's push consumer. */
export function consumerContext({ queueArn, name }: Pick<ConsumerRecord, 'queueArn' | 'name'>): string {
  return `consumer ${queueArn} ${name}`
}

/** The URL with its credentials. Throws what the vault throws, or a NoVaultError. */
export function openConsumerUrl(record: ConsumerRecord, vault: Pick<Sealing, 'open'> | undefined): string {
  if (!record.sealed) return record.url
  if (!vault) throw new NoVaultError()
  return vault.open(record.sealed, consumerContext(record))
}

/** Throws a NoVaultError where that would be needed. */
export function keepOutbound(reached: Reached, place: Place, vault: Sealing | undefined): KeptOutbound {
  const { url, proxy, clientCertificate, ca, headers } = reached
  const names = Object.keys(headers ?? {})
  const outbound: OutboundSettings = {
    ...(proxy !== undefined && { proxy: maskCredentials(proxy) }),
    ...(clientCertificate && { certificate: clientCertificate.certificate }),
    ...(ca !== undefined && { ca }),
    ...(names.length > 0 && { headers: names }),
  }
  const secrets: Secrets = {
    ...(hasCredentials(url) && { url }),
    ...(proxy !== undefined && hasCredentials(proxy) && { proxy }),
    ...(clientCertificate && { privateKey: clientCertificate.privateKey }),
    ...(names.length > 0 && headers && { headers }),
  }
  return {
    outbound: Object.keys(outbound).length > 0 ? outbound : null,
    sealed: Object.keys(secrets).length > 0 ? sealed(secrets, place, vault) : null,
  }
}

function sealed(secrets: Secrets, place: Place, vault: Sealing | undefined): string {
  if (!vault) throw new NoVaultError()
  return vault.seal(JSON.stringify(secrets), outboundContext(place))
}

type Kept = Place & Pick<SubscriptionRecord, 'outbound' | 'sealed'>

/** Throws what the vault throws, or a NoVaultError. */
export function openOutbound(kept: Kept, vault: Pick<Sealing, 'open'> | undefined): Reached {
  const { outbound, sealed: text, endpoint } = kept
  if (text && !vault) throw new NoVaultError()
  const secrets = text && vault ? (JSON.parse(vault.open(text, outboundContext(kept))) as Secrets) : {}
  const { certificate, ca, proxy = undefined } = outbound ?? {}
  const { privateKey } = secrets
  return {
    url: secrets.url ?? endpoint,
    proxy: secrets.proxy ?? proxy,
    ca,
    headers: secrets.headers,
    ...(certificate !== undefined &&
      privateKey !== undefined && { clientCertificate: { certificate, privateKey } }),
  }
}
