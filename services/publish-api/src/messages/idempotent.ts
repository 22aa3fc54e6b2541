/** `Idempotency-Key` on publish: the same request gets the same answer for 24 hours (store: idempotency.ts). */
import { createHash } from 'node:crypto'
import { FantailError, IDEMPOTENCY_KEY_CHARS_MAX } from '@fantail/contracts'
import type { IdempotentPublish } from '@fantail/store'
import type { ApiRequest } from '../http/api-request.ts'
import type { GivenMessage, GivenMessages } from './read-messages.ts'

const KEY = /^[\x21-\x7e]+$/

/** The request's key, if it has one. Throws `validation_failed` unless it has 1 to 255 visible ASCII characters. */
export function keyOf(request: ApiRequest): string | undefined {
  const key = request.header('idempotency-key')
  if (key === undefined) return undefined
  if (KEY.test(key) && key.length <= IDEMPOTENCY_KEY_CHARS_MAX) return key
  const message = `must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters`
  throw FantailError.invalid('Idempotency-Key', message)
}

/** Equal for requests with the same messages, whatever the order of members. */
export function requestHash({ batch, messages }: Pick<GivenMessages, 'batch' | 'messages'>): string {
  return createHash('sha256')
    .update(JSON.stringify([batch, messages.map(canonical)]))
    .digest('base64url')
}

function canonical(given: GivenMessage): unknown[] {
  const { message, subject, attributes, structure, groupId, deduplicationId, sourceId } = given
  const sorted = Object.entries(attributes ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    message,
    subject ?? null,
    structure ?? null,
    sorted.map(([name, { type, value }]) => [name, type, value]),
    groupId ?? null,
    deduplicationId ?? null,
    ...(sourceId === undefined ? [] : [sourceId]),
  ]
}

/** The message ids that belong to the key. Throws `idempotency_mismatch` if the key was used for another request. */
export function replay(first: IdempotentPublish, hash: string): string[] {
  if (first.h === hash) return first.ids
  throw new FantailError('idempotency_mismatch', 'this Idempotency-Key was used for another request')
}
