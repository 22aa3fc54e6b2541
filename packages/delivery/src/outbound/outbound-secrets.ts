/**
 * Stores an endpoint's settings in two parts. The record has the public part. The secret part is sealed and stored next
 * to it. It can be opened only for this endpoint of this topic. An attempt puts both parts together again.
 */
import type { OutboundSettings, PushConsumerRecord, SubscriptionRecord } from '@fantail/contracts'
import { type BodySeals, VaultError } from '@fantail/vault'
import { hasCredentials, maskCredentials } from './endpoint-credentials.ts'
import type { OAuthOptions, OutboundOptions } from './outbound-route.ts'

/** The methods of a vault that this file uses. */
export interface Sealing {
  seal(plaintext: string, context: string): string
  open(sealed: string, context: string): string
  nameOf(secret: string): string
}

export interface Reached extends OutboundOptions {
  /** The URL as subscribed, with credentials. */
  url: string
}

export type KeptOutbound = Required<Pick<SubscriptionRecord, 'outbound' | 'sealed'>>
type Place = Pick<SubscriptionRecord, 'topicArn' | 'endpoint'>

interface Secrets {
  url?: string
  proxy?: string
  privateKey?: string
  headers?: Record<string, string>
  /** Whole, so that nobody who changes the public part gets the secret sent to another token server. */
  oauth?: OAuthOptions
}

/** A secret must be sealed or opened, but FANTAIL_MASTER_KEY is not set. */
export class NoVaultError extends Error {
  constructor(what = 'seal secrets') {
    super(`FANTAIL_MASTER_KEY is not set, so Fantail cannot ${what}`)
    this.name = 'NoVaultError'
  }
}

/**
 * Seals texts of messages by the vault. Without one, every call throws a NoVaultError. `all`: messages of all topics
 * and queues are sealed (FANTAIL_SEAL).
 */
export function bodySealsOf(
  vault: { bodies: BodySeals } | undefined,
  { all = false }: { all?: boolean } = {},
): BodySeals & { all: boolean; isKeyError(error: unknown): boolean } {
  return { ...(vault?.bodies ?? NO_SEALS), all, isKeyError: isMissingKey }
}

const refuseToSeal = () => {
  throw new NoVaultError('seal messages')
}
const NO_SEALS: BodySeals = {
  needKey: refuseToSeal,
  seal: refuseToSeal,
  open: () => {
    throw new NoVaultError('open messages')
  },
}

/** Whether a text cannot be sealed or opened because this process lacks the master key, or does not have it yet. */
export function isMissingKey(error: unknown): boolean {
  return error instanceof NoVaultError || (error instanceof VaultError && error.code !== 'damaged')
}

/** The seal's context: the owner of the secrets. `endpoint` is the stored one, without credentials. */
export function outboundContext({ topicArn, endpoint }: Place): string {
  return `subscription ${topicArn} ${endpoint}`
}

/** The seal's context for a queue's push consumer. */
export function pushConsumerContext({
  queueArn,
  name,
}: Pick<PushConsumerRecord, 'queueArn' | 'name'>): string {
  return `consumer ${queueArn} ${name}`
}

/** Throws a NoVaultError if there is a secret and no vault. */
export function keepOutbound(reached: Reached, place: Place, vault: Sealing | undefined): KeptOutbound {
  const { outbound, secrets } = takenApart(reached, vault)
  return { outbound, sealed: secrets && sealed(JSON.stringify(secrets), outboundContext(place), vault) }
}

type PushConsumer = Pick<PushConsumerRecord, 'queueArn' | 'name'>

/** Like `keepOutbound`, for a push consumer. */
export function keepPushConsumer(
  reached: Reached,
  consumer: PushConsumer,
  vault: Sealing | undefined,
): KeptOutbound & Pick<PushConsumerRecord, 'url'> {
  const { outbound, secrets } = takenApart(reached, vault)
  return {
    url: maskCredentials(reached.url),
    outbound,
    sealed: secrets && sealed(JSON.stringify(secrets), pushConsumerContext(consumer), vault),
  }
}

/** Throws the vault's error, or a NoVaultError. */
export function openPushConsumer(
  record: PushConsumerRecord,
  vault: Pick<Sealing, 'open'> | undefined,
): Reached {
  const text = opened(record.sealed, pushConsumerContext(record), vault)
  return putTogether(record.url, record.outbound, text)
}

interface TakenApart {
  outbound: OutboundSettings | null
  secrets: Secrets | null
}

function takenApart(reached: Reached, vault: Sealing | undefined): TakenApart {
  const { url, proxy, clientCertificate, ca, headers, oauth } = reached
  const names = Object.keys(headers ?? {})
  const outbound: OutboundSettings = {
    ...(proxy !== undefined && { proxy: maskCredentials(proxy) }),
    ...(clientCertificate && { certificate: clientCertificate.certificate }),
    ...(ca !== undefined && { ca }),
    ...(names.length > 0 && { headers: names }),
    ...(oauth && { oauth: shownOAuth(oauth) }),
  }
  const secrets: Secrets = {
    ...(hasCredentials(url) && { url }),
    ...(proxy !== undefined && hasCredentials(proxy) && { proxy }),
    ...(clientCertificate && { privateKey: clientCertificate.privateKey }),
    ...(names.length > 0 && headers && { headers }),
    ...(oauth && { oauth: { ...oauth, name: vault?.nameOf(wholeOf(oauth)) } }),
  }
  return {
    outbound: Object.keys(outbound).length > 0 ? outbound : null,
    secrets: Object.keys(secrets).length > 0 ? secrets : null,
  }
}

function shownOAuth({ tokenUrl, clientId, scope, audience }: OAuthOptions) {
  return {
    tokenUrl,
    clientId,
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
  }
}

/** Everything that a token depends on. */
function wholeOf({ tokenUrl, clientId, clientSecret, scope, audience }: OAuthOptions): string {
  return JSON.stringify([tokenUrl, clientId, clientSecret, scope, audience])
}

function sealed(text: string, context: string, vault: Sealing | undefined): string {
  if (!vault) throw new NoVaultError()
  return vault.seal(text, context)
}

function opened(
  text: string | null | undefined,
  context: string,
  vault: Pick<Sealing, 'open'> | undefined,
): string | undefined {
  if (!text) return undefined
  if (!vault) throw new NoVaultError()
  return vault.open(text, context)
}

type Kept = Place & Pick<SubscriptionRecord, 'outbound' | 'sealed'>

/** Throws the vault's error, or a NoVaultError. */
export function openOutbound(kept: Kept, vault: Pick<Sealing, 'open'> | undefined): Reached {
  const text = opened(kept.sealed, outboundContext(kept), vault)
  return putTogether(kept.endpoint, kept.outbound, text)
}

function readSecrets(text: string): Secrets {
  try {
    return JSON.parse(text) as Secrets
  } catch {
    // The JSON parser's message would repeat the secret text, so it is replaced.
    throw new TypeError('what was sealed cannot be read')
  }
}

function putTogether(
  url: string,
  outbound: OutboundSettings | null | undefined,
  text: string | undefined,
): Reached {
  const secrets = text === undefined ? {} : readSecrets(text)
  const { certificate, ca, proxy = undefined } = outbound ?? {}
  const { privateKey } = secrets
  return {
    url: secrets.url ?? url,
    proxy: secrets.proxy ?? proxy,
    ca,
    headers: secrets.headers,
    ...(certificate !== undefined &&
      privateKey !== undefined && { clientCertificate: { certificate, privateKey } }),
    ...(secrets.oauth && { oauth: secrets.oauth }),
  }
}
