/**
 * Outbound settings of a subscription or a push consumer: checked, stored with sealed secrets, changed, and shown
 * without secrets.
 */
import {
  FantailError,
  isObject,
  type Problem,
  type Protocol,
  type PushConsumerRecord,
  type SubscriptionRecord,
} from '@fantail/contracts'
import type { OutboundInput, OutboundView } from '@fantail/contracts/schemas/outbound-schemas'
import {
  type AddressGuard,
  checkTlsMaterial,
  hasCredentials,
  hideCredentials,
  hostOf,
  type KeptOutbound,
  keepOutbound,
  keepPushConsumer,
  NoVaultError,
  type OutboundOptions,
  openOutbound,
  openPushConsumer,
  type Reached,
  readProxy,
  readTokenUrl,
} from '@fantail/delivery'
import { outboundHeaderProblems, PROTOCOL_TRAITS, refusedSetting } from '@fantail/policy'
import { type Vault, VaultError } from '@fantail/vault'
import type { z } from 'zod'

/** Members to set. null resets all of them. */
export type OutboundChange = z.output<typeof OutboundInput> | null

/** Problems that the schema cannot find. Members must have the right type. No secret is repeated. */
export function outboundProblems(value: unknown, protocol: Protocol | undefined): Problem[] {
  if (!isObject(value)) return []
  const refused = refusedSetting(protocol, 'outbound')
  if (refused !== undefined) return [{ path: 'outbound', message: refused }]
  const { proxy, clientCertificate, ca, headers, oauth } = value
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
  if (isObject(oauth) && typeof oauth.tokenUrl === 'string') {
    const { tokenUrl } = oauth
    attempt('outbound.oauth.tokenUrl', () => readTokenUrl(tokenUrl))
  }
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
  /** The URL, in which a digest replaces the credentials. */
  endpoint: string
}

interface New {
  topicArn: string
  /** The endpoint as given. */
  endpoint: string
  outbound: OutboundChange | undefined
}

/** Tools to check and store outbound settings. */
interface Keeping {
  vault: Vault | undefined
  addressGuard: Pick<AddressGuard, 'refusalBeforehand' | 'refusalThroughProxy'>
}

/**
 * The stored form of a new subscription's endpoint. Throws `validation_failed` if a secret cannot be stored, or the
 * endpoint can never be reached.
 */
export async function keepEndpoint({ vault, addressGuard }: Keeping, given: New): Promise<KeptEndpoint> {
  const { topicArn, endpoint: url, outbound } = given
  const options = merged({}, outbound ?? null)
  refuseUnreachable(addressGuard, { url, ...options }, 'endpoint')
  if (!hasCredentials(url) && !outbound) return { endpoint: url }
  refuseTwoAuthorizations(url, options)
  const endpoint = await hideCredentials(url)
  const place = { topicArn, endpoint }
  return { endpoint, ...kept('endpoint', url, () => keepOutbound({ url, ...options }, place, vault)) }
}

/**
 * The stored form of a subscription's new endpoint. If the origin stays, `outbound` members that are not given stay,
 * and the URL's credentials too. Headers, client certificate and credentials are never kept for another origin.
 */
export async function keepMoved(
  keeping: Keeping,
  record: SubscriptionRecord,
  { url, outbound }: { url: string; outbound: OutboundChange | undefined },
): Promise<KeptEndpoint> {
  const { url: before, ...current } = opened(() => openOutbound(record, keeping.vault))
  const isSame =
    URL.parse(url)?.origin === URL.parse(before)?.origin && PROTOCOL_TRAITS[record.protocol].takes.outbound
  const { proxy, ca } = current
  const options = merged(isSame ? current : { proxy, ca }, outbound === undefined ? {} : outbound)
  const given = Object.values(options).some((value) => value !== undefined) ? options : undefined
  const endpoint = isSame ? withCredentialsOf(before, url) : url
  const kept = await keepEndpoint(keeping, { topicArn: record.topicArn, endpoint, outbound: given })
  return { outbound: null, sealed: null, ...kept }
}

function withCredentialsOf(before: string, url: string): string {
  const [from, to] = [new URL(before), new URL(url)]
  if (to.username !== '' || to.password !== '' || (from.username === '' && from.password === '')) return url
  to.username = from.username
  to.password = from.password
  return to.href
}

/** The changed members of an existing subscription. Its endpoint's credentials stay. */
export function changeOutbound(
  { vault, addressGuard }: Keeping,
  record: SubscriptionRecord,
  change: OutboundChange,
): KeptOutbound {
  const { url, ...current } = opened(() => openOutbound(record, vault))
  const options = merged(current, change)
  if (change === null || change.proxy !== undefined || change.oauth)
    refuseUnreachable(addressGuard, { url, ...options }, 'endpoint')
  refuseTwoAuthorizations(url, options)
  return kept('endpoint', url, () => keepOutbound({ url, ...options }, record, vault))
}

/** Whether each given member equals the record's. */
export function agreesOutbound(
  vault: Vault | undefined,
  record: SubscriptionRecord,
  change: OutboundChange | undefined,
): boolean {
  if (change === undefined) return true
  const { url: _, ...current } = opened(() => openOutbound(record, vault))
  return text(merged(current, change)) === text(merged(current, {}))
}

interface PushConsumerWay {
  url?: string | undefined
  outbound?: OutboundChange | undefined
}

/** The changed members of a push consumer. Empty if the request has neither URL nor outbound settings. */
export function keepWay(
  { vault, addressGuard }: Keeping,
  {
    queueArn,
    name,
    before,
  }: Pick<PushConsumerRecord, 'queueArn' | 'name'> & { before: PushConsumerRecord | undefined },
  { url: given, outbound: change }: PushConsumerWay,
): Partial<ReturnType<typeof keepPushConsumer>> {
  if (change?.oauth) throw FantailError.invalid('outbound.oauth', 'is for subscriptions only')
  if (given === undefined && (change === undefined || before === undefined)) return {}
  const current = currentWay(vault, before, { url: given, outbound: change })
  const url = given ?? current.url
  const { url: _, ...others } = current
  const options = change === undefined ? others : merged(others, change)
  refuseUnreachable(addressGuard, { url, ...options }, 'url')
  refuseTwoAuthorizations(url, options)
  return kept('url', url, () => keepPushConsumer({ url, ...options }, { queueArn, name }, vault))
}

/** The present settings. They are opened only if some of them stay. */
function currentWay(
  vault: Vault | undefined,
  before: PushConsumerRecord | undefined,
  { url, outbound }: PushConsumerWay,
): Reached {
  if (!before || (url !== undefined && (outbound === null || !before.outbound))) return { url: url ?? '' }
  const current = opened(() => openPushConsumer(before, vault))
  if (url !== undefined && URL.parse(url)?.origin !== URL.parse(current.url)?.origin) {
    // Secrets are never shown. If they stayed for another origin, a caller could have them sent to any server by
    // changing the URL.
    const message = 'is of another origin: its outbound settings must be given again, each of them or null'
    if (!isWhole(outbound, before)) throw FantailError.invalid('url', message)
  }
  return current
}

/** Whether the change replaces every secret. */
function isWhole(change: OutboundChange | undefined, { outbound }: PushConsumerRecord): boolean {
  if (!change) return change === null
  const { headers = [], certificate, proxy } = outbound ?? {}
  if (headers.length > 0 && change.headers === undefined) return false
  if (certificate !== undefined && change.clientCertificate === undefined) return false
  return proxy === undefined || change.proxy !== undefined
}

/**
 * Throws `validation_failed` if no connection could ever be made. It only checks the text of the host, without a name
 * look-up.
 */
function refuseUnreachable(guard: Keeping['addressGuard'], reached: Reached, member: string): void {
  const { url, proxy, oauth } = reached
  const refused = refusedHost(guard, url, proxy)
  if (refused) throw FantailError.invalid(member, unreachable(refused))
  const tokens = oauth && refusedHost(guard, oauth.tokenUrl, proxy)
  if (tokens) throw FantailError.invalid('outbound.oauth.tokenUrl', unreachable(tokens))
  const between = proxy === undefined ? undefined : refusedHost(guard, proxy)
  if (between) throw FantailError.invalid('outbound.proxy', unreachable(between))
}

interface RefusedHost {
  host: string
  why: string
}

/** The URL's host, if connections to it are always refused. */
export function refusedHost(
  guard: Keeping['addressGuard'],
  url: string,
  proxy?: string,
): RefusedHost | undefined {
  const parsed = URL.parse(url)
  const host = parsed ? hostOf(parsed) : ''
  const why = proxy === undefined ? guard.refusalBeforehand(host) : guard.refusalThroughProxy(host)
  return why === undefined ? undefined : { host, why }
}

export function unreachable({ host, why }: RefusedHost): string {
  return `cannot be reached: ${host} is refused (${why}); FANTAIL_OUTBOUND_ALLOW makes exceptions`
}

export function outboundView({
  outbound,
}: Pick<SubscriptionRecord, 'outbound'>): z.input<typeof OutboundView> | null {
  if (!outbound) return null
  const { proxy = null, certificate, ca = null, headers = [], oauth } = outbound
  const clientCertificate = certificate === undefined ? null : { certificate }
  return {
    proxy,
    clientCertificate,
    ca,
    headers,
    oauth: oauth ? { scope: null, audience: null, ...oauth } : null,
  }
}

function merged(current: OutboundOptions, change: OutboundChange): OutboundOptions {
  if (change === null) return {}
  const { proxy, clientCertificate, ca, headers, oauth } = change
  const pick = <T>(given: T | null | undefined, before: T | undefined) =>
    given === undefined ? before : (given ?? undefined)
  return {
    proxy: pick(proxy, current.proxy),
    clientCertificate: pick(clientCertificate, current.clientCertificate),
    ca: pick(ca, current.ca),
    headers: pick(headers, current.headers),
    oauth: pick(oauth, current.oauth),
  }
}

/** The settings as text, for comparisons. Headers are sorted, because their order does not matter. */
function text({ headers = {}, oauth, ...others }: OutboundOptions): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
  const { tokenUrl, clientId, clientSecret, scope, audience } = oauth ?? {}
  const client = [tokenUrl, clientId, clientSecret, scope, audience]
  return JSON.stringify([others.proxy, others.clientCertificate, others.ca, sorted, client])
}

/** Throws if two of these would make the same header: credentials in the URL, `oauth`, and a header Authorization. */
function refuseTwoAuthorizations(url: string, { headers = {}, oauth }: OutboundOptions): void {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  if (oauth && hasCredentials(url))
    throw FantailError.invalid('outbound.oauth', 'must not be there where the endpoint has credentials')
  if (isNamed && (oauth || hasCredentials(url)))
    throw FantailError.invalid(
      'outbound.headers',
      `must not hold Authorization where ${oauth ? 'oauth makes it' : 'the endpoint has credentials'}`,
    )
}

/** `member`: the member of the request with the URL. */
function kept<T>(member: string, url: string, keep: () => T): T {
  try {
    return keep()
  } catch (error) {
    if (!(error instanceof NoVaultError)) throw error
    const path = hasCredentials(url) ? member : 'outbound'
    throw FantailError.invalid(path, `holds a secret, and ${error.message}`)
  }
}

function opened(open: () => Reached): Reached {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof NoVaultError || error instanceof VaultError)) throw error
    if (error instanceof VaultError && error.code === 'lockedKey') throw error
    throw new FantailError('wrong_state', `its secrets cannot be opened: ${error.message}`, { cause: error })
  }
}
