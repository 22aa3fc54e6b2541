/**
 * Keys that sign a subscription's requests (docs/verify-webhooks.md). The newest key does not expire. Earlier keys
 * expire when the overlap is over, and are dropped with the next change afterwards.
 */
import {
  FantailError,
  type SubscriptionRecord,
  WEBHOOK_KEYS_MAX,
  WEBHOOK_OVERLAP_SECONDS_DEFAULT,
  type WebhookAlgorithm,
  type WebhookKey,
} from '@fantail/contracts'
import type { WebhookKeyInput } from '@fantail/contracts/schemas/subscriptions/webhook-key-schemas'
import { createWebhookKey, type NewWebhookKey, NoVaultError } from '@fantail/delivery'
import { isWebhookSecret, PROTOCOL_TRAITS } from '@fantail/policy'
import { passingTime } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, idOf } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { iso, isoOrNull } from '../http/record-views.ts'
import { visibleSubscription } from './change.ts'

type Tools = Pick<ApiDeps, 'subscriptions' | 'vault' | 'clock'>

/** Gives the subscription that the path names a new key. The answer is the only one with the key's secret. */
export async function createKey(
  deps: Tools & Pick<ApiDeps, 'addressGuard' | 'queues' | 'log'>,
  call: Call,
  { algorithm = 'hmac-sha256', secret, overlapSeconds = WEBHOOK_OVERLAP_SECONDS_DEFAULT }: KeyInput,
): Promise<Answer> {
  const record = await visibleSubscription(deps, idOf(call))
  const made = await rotateWebhookKey(deps, record, { algorithm, secret, overlapSeconds })
  const { requestId } = call
  deps.log.info({ requestId, subscriptionId: record.id, algorithm }, 'subscription.webhook_key_made')
  const shown = made.secret === undefined ? {} : { secret: made.secret }
  return { status: 201, body: { ...keyView(made.key), ...shown } }
}

export function keyView({ sealed: _, createdAt, expiresAt, ...shown }: WebhookKey): object {
  return { ...shown, createdAt: iso(createdAt), expiresAt: isoOrNull(expiresAt) }
}

type KeyInput = z.output<typeof WebhookKeyInput>

interface Rotation {
  algorithm: WebhookAlgorithm
  secret?: string | undefined
  overlapSeconds: number
}

/**
 * Adds a key that signs from now on. If the newest key has the given secret, it stays the newest. Throws
 * `validation_failed`, `not_supported`, `conflict` or `not_found`.
 */
async function rotateWebhookKey(
  deps: Tools,
  { id, protocol }: Pick<SubscriptionRecord, 'id' | 'protocol'>,
  rotation: Rotation,
): Promise<NewWebhookKey> {
  checkRotation(protocol, rotation)
  // Receivers check signatures by their own clocks. So keys use real time, even if a test moves the stack's time.
  const now = passingTime.realOf(deps.clock())
  const made = create(deps, { subscriptionId: id, now, ...rotation })
  let key = made.key
  await deps.subscriptions.update(id, (current) => {
    if (current.unsubscribed) throw notFound('subscription')
    const { webhookKeys = [] } = current
    const same = webhookKeys.find((other) => other.id === made.key.id && other.expiresAt === null)
    key = { ...made.key, createdAt: same?.createdAt ?? now }
    const others = webhookKeys.filter((other) => other.id !== key.id)
    return { webhookKeys: [key, ...ending(others, now, rotation.overlapSeconds)] }
  })
  return { ...made, key }
}

/** A first key for a subscription. It signs when it is stored. Throws `not_supported`. */
export function firstWebhookKey(
  deps: Pick<Tools, 'vault' | 'clock'>,
  subscriptionId: string,
): Required<NewWebhookKey> {
  const now = passingTime.realOf(deps.clock())
  const { key, secret = '' } = create(deps, { subscriptionId, now, algorithm: 'hmac-sha256' })
  return { key, secret }
}

function checkRotation(protocol: SubscriptionRecord['protocol'], { algorithm, secret }: Rotation): void {
  if (!PROTOCOL_TRAITS[protocol].takes.webhookKeys) {
    throw new FantailError(
      'wrong_state',
      'only requests to webhooks are signed; this subscription has a queue',
    )
  }
  if (secret === undefined) return
  if (algorithm === 'ed25519') throw FantailError.invalid('secret', 'is for hmac-sha256 only')
  if (!isWebhookSecret(secret)) {
    throw FantailError.invalid('secret', 'must be `whsec_` and 24 to 75 bytes in base64')
  }
}

function create(
  { vault }: Pick<Tools, 'vault'>,
  wanted: Parameters<typeof createWebhookKey>[0],
): NewWebhookKey {
  try {
    return createWebhookKey(wanted, vault)
  } catch (error) {
    if (!(error instanceof NoVaultError)) throw error
    throw new FantailError('not_supported', error.message, { cause: error })
  }
}

/** Earlier keys that still sign until the overlap is over, newest first. */
function ending(keys: WebhookKey[], now: number, overlapSeconds: number): WebhookKey[] {
  const end = now + overlapSeconds * 1_000
  const kept = signing(keys, now)
    .map((key) => ({ ...key, expiresAt: Math.min(key.expiresAt ?? end, end) }))
    .filter(({ expiresAt }) => expiresAt > now)
  if (kept.length < WEBHOOK_KEYS_MAX) return kept
  throw new FantailError('conflict', `${WEBHOOK_KEYS_MAX} keys sign already: shorten overlapSeconds, or wait`)
}

export function signing(keys: WebhookKey[], now: number): WebhookKey[] {
  return keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
}

export async function dropWebhookKeys({ subscriptions }: Tools, id: string): Promise<void> {
  await subscriptions.update(id, () => ({ webhookKeys: [] }))
}
