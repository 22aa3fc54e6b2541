/**
 * Routes that make, list and revoke API keys, for keys that may manage their account. A secret is shown only when its
 * key is made.
 */
import { type Caller, type Key, keyView, makeKey } from '@fantail/access'
import { type ApiKeyRecord, FantailError, KEY_COMMAND, KEY_LIMITS_INHERITED_MAX } from '@fantail/contracts'
import {
  KeyList,
  KeyListQuery,
  KeyReference,
  KeyView,
  NewKeyInput,
  NewKeyView,
} from '@fantail/contracts/schemas/access/key-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'

const TAG = 'Keys'

export function keyRoutes(deps: ApiDeps): Endpoint[] {
  const route = { path: '/v1/keys/{key}', params: { key: KeyReference }, tag: TAG } as const
  return [
    endpoint({
      id: 'createKey',
      method: 'POST',
      path: '/v1/keys',
      tag: TAG,
      summary: 'Make an API key',
      description:
        'The token of a native key is sent as `Authorization: Bearer ft_…`; an access key signs requests of the AWS protocols. ' +
        'Token and secret access key are in this answer and in no other. A key can be given no scope that the caller’s own key lacks, and by a key with a ' +
        'limit none above that; its requests then count against that limit, too.',
      body: NewKeyInput,
      answers: { 201: { description: 'Made; acts at once', schema: NewKeyView } },
      errors: ['not_supported', 'conflict', 'storage_full', 'key_unavailable'],
      handle: (call) => postKey(deps, call),
    }),
    endpoint({
      id: 'listKeys',
      method: 'GET',
      path: '/v1/keys',
      tag: TAG,
      summary: 'List the API keys of the caller’s account',
      description: 'Without their tokens. If no keys are required, those of all accounts are listed.',
      query: KeyListQuery,
      answers: { 200: { description: 'A page, sorted by account and id', schema: KeyList } },
      handle: (call) => listKeys(deps, call),
    }),
    endpoint({
      ...route,
      id: 'getKey',
      method: 'GET',
      summary: 'Read what an API key may do',
      description: 'Shows scopes, prefixes and limits, never the token. Keys of other accounts answer 404.',
      answers: { 200: { description: 'The key, without its token', schema: KeyView } },
      errors: ['not_found'],
      handle: async (call) => {
        const record = await visibleKey(deps, call)
        if (!record) throw notFound('key')
        return ok(keyView(record))
      },
    }),
    endpoint({
      ...route,
      id: 'revokeKey',
      method: 'DELETE',
      summary: 'Revoke an API key',
      description:
        'Other processes refuse the key within 100 ms; if the announcement is lost, within a second. Requests under way ' +
        'continue.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: (call) => revokeKey(deps, call),
    }),
  ]
}

async function postKey(
  deps: ApiDeps,
  { body, caller }: Call<unknown, z.output<typeof NewKeyInput>>,
): Promise<Answer> {
  const { name, kind = 'native', scopes, prefixes = [], maxRequestsPerSecond = null } = body
  const account = body.account ?? caller?.account ?? deps.settings.arn.account
  refuseMore(caller, { account, scopes, maxRequestsPerSecond })
  const wanted = {
    ...{ name, kind, scopes, prefixes, account, maxRequestsPerSecond },
    limitedBy: caller?.limits ?? [],
  }
  const { record, shown } = makeKey(wanted, { vault: deps.vault, now: deps.clock() })
  await deps.keys.create(record)
  deps.keyCache.forget(record.id)
  return { status: 201, body: { ...keyView(record), ...shown } }
}

type Wanted = Pick<ApiKeyRecord, 'account' | 'scopes' | 'maxRequestsPerSecond'>

/** A key cannot make one with more rights than its own. `manage` includes `consume`. */
function refuseMore(caller: Caller, wanted: Wanted): void {
  if (caller === null) return
  if (wanted.account !== caller.account) {
    const command = `${KEY_COMMAND} --account ${wanted.account}`
    throw new FantailError('forbidden', `keys of other accounts are made by \`${command}\``)
  }
  const lacking = wanted.scopes.filter(
    (scope) => !caller.scopes.has(scope) && !(scope === 'consume' && caller.scopes.has('manage')),
  )
  if (lacking.length > 0) {
    throw new FantailError('forbidden', `key ${caller.id} lacks the scope ${lacking.join(', ')} itself`)
  }
  refuseFaster(caller, wanted.maxRequestsPerSecond)
}

/**
 * A key that a limited key makes counts against the same limit. Otherwise ten such keys could make ten times as many
 * requests.
 */
function refuseFaster({ id, limits }: Key, wanted: number | null): void {
  if (limits.length === 0) return
  const most = Math.min(...limits.map((limit) => limit.maxRequestsPerSecond))
  if (wanted === null || wanted > most) {
    const message = `key ${id} is limited itself: give maxRequestsPerSecond, at most ${most}`
    throw new FantailError('forbidden', message)
  }
  if (limits.length > KEY_LIMITS_INHERITED_MAX) {
    const message = `key ${id} was made by limited keys, ${KEY_LIMITS_INHERITED_MAX} in a row, and makes no further ones`
    throw new FantailError('forbidden', message)
  }
}

async function listKeys(
  deps: ApiDeps,
  { query, caller }: Call<z.output<typeof KeyListQuery>>,
): Promise<Answer> {
  const { cursor, limit } = query
  const { items, nextCursor } = await deps.keys.list({
    limit,
    ...(cursor !== undefined && { cursor }),
    ...(caller && { account: caller.account }),
  })
  return ok({ keys: items.map(keyView), nextCursor })
}

async function revokeKey(deps: ApiDeps, call: Call): Promise<Answer> {
  const { params, caller } = call
  const id = params.key ?? ''
  // The record is not read, so that a key whose record was changed can be revoked too.
  if (caller && !(await deps.keys.belongsTo(id, caller.account))) return NO_CONTENT
  await deps.keys.revoke(id)
  deps.keyCache.forget(id)
  return NO_CONTENT
}

/** A key of another account counts as unknown. */
async function visibleKey({ keys }: ApiDeps, { params, caller }: Call): Promise<ApiKeyRecord | null> {
  const record = await keys.get(params.key ?? '')
  return record && (caller === null || record.account === caller.account) ? record : null
}
