/** How a subscription's endpoint is reached: checked, kept with its secrets sealed, changed, and shown without them. */
import {
  FantailError,
  type OutboundInput,
  type Problem,
  type Protocol,
  type SubscriptionRecord,
} from '@fantail/contracts'
import {
  checkTlsMaterial,
  hasCredentials,
  hideCredentials,
  type KeptOutbound,
  keepOutbound,
  NoVaultError,
  type OutboundOptions,
  openOutbound,
  type Reached,
  readProxy,
} from '@fantail/delivery'
import { outboundHeaderProblems } from '@fantail/policy'
import { type Vault, VaultError } from '@fantail/vault'
import type { z } from 'zod'
import { isObject } from '../http/validate.ts'

/** Members to set; null resets all of them. */
export type OutboundChange = z.output<typeof OutboundInput> | null

/** What a schema cannot tell; as far as the types are right. Nothing of a secret is repeated. */
export function outboundProblems(value: unknown, protocol: Protocol | undefined): Problem[] {
  if (!isObject(value)) return []
  if (protocol === 'sqs') return [{ path: 'outbound', message: 'is for http and https subscriptions only' }]
  const { proxy, clientCertificate, ca, headers } = value
  const problems: Problem[] = []
  const attempt = (path: string, check: () => void) => {
    try {
      check()
    } catch (error) {
      problems.push({ path, message: `cannot be used: ${(error as Error).message}` })
    }
  }
  if (typeof proxy === 'string' && proxy !== '') attempt('outbound.proxy', () => readProxy(proxy))
  if (typeof ca === 'string' && ca !== '') attempt('outbound.ca', () => checkTlsMaterial({ ca }))
  if (isObject(clientCertificate)) {
    const { certificate, privateKey } = clientCertificate
    if (typeof certificate === 'string' && typeof privateKey === 'string')
      attempt('outbound.clientCertificate', () =>
        checkTlsMaterial({ clientCertificate: { certificate, privateKey } }),
      )
  }
  if (isObject(headers) && Object.values(headers).every((header) => typeof header === 'string')) {
    for (const { name, message } of outboundHeaderProblems(headers as Record<string, string>))
      problems.push({ path: name === '' ? 'outbound.headers' : `outbound.headers.${name}`, message })
  }
  return problems
}

export interface KeptEndpoint extends Partial<KeptOutbound> {
  /** A digest in the place of its credentials. */
  endpoint: string
}

interface New {
  topicArn: string
  /** As given. */
  endpoint: string
  outbound: OutboundChange | undefined
}

/** What is kept of a new subscription's endpoint. `validation_failed` where a secret cannot be kept. */
export async function keepEndpoint(vault: Vault | undefined, given: New): Promise<KeptEndpoint> {
  const { topicArn, endpoint: url, outbound } = given
  if (!hasCredentials(url) && !outbound) return { endpoint: url }
  const options = merged({}, outbound ?? null)
  refuseTwoAuthorizations(url, options)
  const endpoint = await hideCredentials(url)
  const kept = keep(vault, { url, ...options }, { topicArn, endpoint })
  return { endpoint, ...kept }
}

/** What to set of a subscription that exists; its endpoint's credentials stay. */
export function changeOutbound(
  vault: Vault | undefined,
  record: SubscriptionRecord,
  change: OutboundChange,
): KeptOutbound {
  const { url, ...current } = opened(vault, record)
  const options = merged(current, change)
  refuseTwoAuthorizations(url, options)
  return keep(vault, { url, ...options }, record)
}

/** True where each member given is what the record has. */
export function agreesOutbound(
  vault: Vault | undefined,
  record: SubscriptionRecord,
  change: OutboundChange | undefined,
): boolean {
  if (change === undefined) return true
  const { url: _, ...current } = opened(vault, record)
  return text(merged(current, change)) === text(merged(current, {}))
}

export function outboundView({ outbound }: SubscriptionRecord): object | null {
  if (!outbound) return null
  const { proxy = null, certificate, ca = null, headers = [] } = outbound
  const clientCertificate = certificate === undefined ? null : { certificate }
  return { proxy, clientCertificate, ca, headers }
}

function merged(current: OutboundOptions, change: OutboundChange): OutboundOptions {
  if (change === null) return {}
  const { proxy, clientCertificate, ca, headers } = change
  const pick = <T>(given: T | null | undefined, before: T | undefined) =>
    given === undefined ? before : (given ?? undefined)
  return {
    proxy: pick(proxy, current.proxy),
    clientCertificate: pick(clientCertificate, current.clientCertificate),
    ca: pick(ca, current.ca),
    headers: pick(headers, current.headers),
  }
}

/** Headers in one order: theirs says nothing. */
function text({ headers = {}, ...others }: OutboundOptions): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([others.proxy, others.clientCertificate, others.ca, sorted])
}

/** What the endpoint's credentials are answered with is this header. */
function refuseTwoAuthorizations(url: string, { headers = {} }: OutboundOptions): void {
  if (!hasCredentials(url)) return
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw FantailError.invalid(
      'outbound.headers',
      'must not hold Authorization where the endpoint has credentials',
    )
}

function keep(
  vault: Vault | undefined,
  reached: Reached,
  place: Pick<SubscriptionRecord, 'topicArn' | 'endpoint'>,
): KeptOutbound {
  try {
    return keepOutbound(reached, place, vault)
  } catch (error) {
    if (!(error instanceof NoVaultError)) throw error
    const path = hasCredentials(reached.url) ? 'endpoint' : 'outbound'
    throw FantailError.invalid(path, `holds a secret, and ${error.message}`)
  }
}

function opened(vault: Vault | undefined, record: SubscriptionRecord) {
  try {
    return openOutbound(record, vault)
  } catch (error) {
    if (!(error instanceof NoVaultError || error instanceof VaultError)) throw error
    throw new FantailError('wrong_state', `its secrets cannot be opened: ${error.message}`, { cause: error })
  }
}
