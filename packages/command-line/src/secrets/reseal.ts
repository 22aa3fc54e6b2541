/**
 * Reseals everything with the first master key:
 *
 * - endpoints of subscriptions, and their signing keys
 * - URLs of push consumers
 * - secrets of access keys
 * - credentials of platform applications
 * - the key that messages are signed with, which may have been stored in plain text
 *
 * A record is changed only if it is still as it was read. The command may therefore run while the services run, stop at
 * any point, and run again.
 */
import { type SubscriptionRecord, sealContextOf } from '@fantail/contracts'
import {
  outboundContext,
  platformContext,
  pushConsumerContext,
  signingKeyContext,
  webhookKeyContext,
} from '@fantail/delivery'
import {
  type ApiKeys,
  isUnreadable,
  MissingKeyError,
  type PlatformApplications,
  type PushConsumerRecords,
  type SigningKeys,
  type Subscriptions,
  type VaultKeys,
} from '@fantail/store'
import type { Vault } from '@fantail/vault'

interface ResealDeps {
  subscriptions: Pick<Subscriptions, 'list' | 'update'>
  pushConsumers: Pick<PushConsumerRecords, 'all' | 'patch'>
  keys: Pick<ApiKeys, 'list' | 'replace'>
  applications: Pick<PlatformApplications, 'list' | 'update'>
  /** undefined: the signing key is left as it is. */
  signing: Pick<SigningKeys, 'read' | 'replace'> | undefined
  vaultKeys: Pick<VaultKeys, 'add' | 'keepOnly'>
  vault: Vault
  /** Rejects if a running service does not have the key. */
  refuseMissing(keyId: string): Promise<void>
}

type SecretStores = Pick<ResealDeps, 'subscriptions' | 'pushConsumers' | 'keys' | 'applications' | 'signing'>

interface Resealed {
  /** Number of sealed secrets that were read. */
  found: number
  resealed: number
  /** Secrets that could not be opened, by name, with the reason. */
  failed: { what: string; why: string }[]
}

const PAGE_LIMIT = 100

/**
 * If every secret was resealed, only the first key's id stays in Redis. Rejects before it changes anything if a running
 * service does not have the first key.
 */
export async function resealAll(deps: ResealDeps): Promise<Resealed> {
  await deps.refuseMissing(deps.vault.keyId)
  const result: Resealed = { found: 0, resealed: 0, failed: [] }
  let noted = false
  for await (const secret of secrets(deps)) {
    result.found += 1
    try {
      if (secret.unreadable) throw secret.unreadable
      const sealed = sealedAnew(secret, deps.vault)
      if (sealed === undefined) continue
      // The key is announced only when there is something to seal. With a wrong key every secret fails before this
      // line, so nothing is announced. Otherwise services with the right key could not start.
      if (!noted) await announceKey(deps)
      noted = true
      await secret.replace(sealed)
      result.resealed += 1
    } catch (error) {
      if (error instanceof MissingKeyError) throw error
      result.failed.push({ what: secret.what, why: error instanceof Error ? error.message : String(error) })
    }
  }
  if (result.failed.length > 0) return result
  await deps.vaultKeys.add(deps.vault.keyId)
  await deps.vaultKeys.keepOnly(deps.vault.keyId)
  return result
}

/**
 * Once the key's id is added, no service starts without this key. The second check finds services that started before.
 */
async function announceKey({ vaultKeys, vault: { keyId }, refuseMissing }: ResealDeps): Promise<void> {
  await vaultKeys.add(keyId)
  await refuseMissing(keyId)
}

function sealedAnew({ sealed, plain, context }: Secret, vault: Vault): string | undefined {
  return plain === undefined ? vault.reseal(sealed ?? '', context) : vault.seal(plain, context)
}

interface Secret {
  what: string
  sealed?: string
  /** A secret that was stored in plain text until now. */
  plain?: string
  context: string
  /** Why the secret cannot be read. */
  unreadable?: Error
  /**
   * Replaces the secret only if it is unchanged. If it has changed, a service has already sealed the new one with the
   * first key.
   */
  replace(sealed: string): Promise<unknown>
}

const SEALED_WITH = /^v1\.([0-9a-f]{8})\./

/** The number of secrets that each key has sealed. */
export async function countSecrets(deps: SecretStores): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const { sealed = '' } of secrets(deps)) {
    const id = SEALED_WITH.exec(sealed)?.[1]
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

async function* secrets(deps: SecretStores): AsyncGenerator<Secret> {
  yield* ofSubscriptions(deps)
  yield* ofPushConsumers(deps)
  yield* ofKeys(deps)
  yield* ofApplications(deps)
  yield* ofSigning(deps)
}

async function* ofSubscriptions({ subscriptions }: SecretStores): AsyncGenerator<Secret> {
  for (let cursor: string | undefined; ; ) {
    const page = { limit: PAGE_LIMIT, unsubscribed: true, ...(cursor !== undefined && { cursor }) }
    const { items, nextCursor } = await subscriptions.list(page)
    for (const record of items) {
      const { id, arn, sealed: before } = record
      yield* ofSigners(record, subscriptions)
      yield* ofMove(record, subscriptions)
      if (!before) continue
      const replace = (sealed: string) =>
        subscriptions.update(id, (current) => (current.sealed === before ? { sealed } : {}))
      yield { what: arn, sealed: before, context: outboundContext(record), replace }
    }
    if (nextCursor === null) return
    cursor = nextCursor
  }
}

/** A new endpoint of the subscription that has not been confirmed yet. */
function* ofMove(
  { id, arn, topicArn, move }: SubscriptionRecord,
  subscriptions: ResealDeps['subscriptions'],
): Generator<Secret> {
  if (!move?.sealed) return
  const { sealed: before } = move
  const replace = (sealed: string) =>
    subscriptions.update(id, ({ move: current }) =>
      current?.sealed === before ? { move: { ...current, sealed } } : {},
    )
  yield { what: `${arn} moving`, sealed: before, context: outboundContext({ topicArn, ...move }), replace }
}

function* ofSigners(
  { id, arn, webhookKeys = [] }: SubscriptionRecord,
  subscriptions: ResealDeps['subscriptions'],
): Generator<Secret> {
  for (const { id: keyId, sealed: before } of webhookKeys) {
    const replace = (sealed: string) =>
      subscriptions.update(id, (current) => ({
        webhookKeys:
          current.webhookKeys?.map((key) => (key.sealed === before ? { ...key, sealed } : key)) ?? [],
      }))
    yield {
      what: `${arn} webhook key ${keyId}`,
      sealed: before,
      context: webhookKeyContext(id, keyId),
      replace,
    }
  }
}

async function* ofPushConsumers({ pushConsumers }: SecretStores): AsyncGenerator<Secret> {
  for (const { arn, consumers: records } of await pushConsumers.all()) {
    for (const record of records) {
      const { name, sealed: before } = record
      if (!before) continue
      const replace = (sealed: string) =>
        pushConsumers.patch(arn, name, (current) => (current.sealed === before ? { sealed } : {}))
      yield { what: `${arn} consumer ${name}`, sealed: before, context: pushConsumerContext(record), replace }
    }
  }
}

async function* ofKeys({ keys }: SecretStores): AsyncGenerator<Secret> {
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await keys.list({
      limit: PAGE_LIMIT,
      ...(cursor !== undefined && { cursor }),
    })
    for (const record of items) {
      if (record.sealedSecret === undefined) continue
      const replace = (sealedSecret: string) => keys.replace(record, { ...record, sealedSecret })
      yield {
        what: `key ${record.id}`,
        sealed: record.sealedSecret,
        context: sealContextOf(record.id),
        replace,
      }
    }
    if (nextCursor === null) return
    cursor = nextCursor
  }
}

async function* ofApplications({ applications }: SecretStores): AsyncGenerator<Secret> {
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await applications.list({ limit: PAGE_LIMIT, cursor })
    for (const application of items) {
      const { arn, sealed: before } = application
      const replace = (sealed: string) =>
        applications.update(arn, (current) => (current.sealed === before ? { ...current, sealed } : current))
      yield { what: arn, sealed: before, context: platformContext(application), replace }
    }
    if (nextCursor === null) return
    cursor = nextCursor
  }
}

async function* ofSigning({ signing }: SecretStores): AsyncGenerator<Secret> {
  if (!signing) return
  const what = 'signing key'
  let pair: Awaited<ReturnType<typeof signing.read>>
  try {
    pair = await signing.read()
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return yield { what, unreadable: error, context: '', replace: async () => undefined }
  }
  if (!pair) return
  const { certificate } = pair
  yield {
    what,
    ...('sealed' in pair ? { sealed: pair.sealed } : { plain: pair.privateKey }),
    context: signingKeyContext(pair),
    replace: (sealed) => signing.replace(pair, { sealed, certificate }),
  }
}
