/**
 * Quotas of customers. A customer is a prefix of names of topics. A key that is bound to this prefix uses the quota
 * without naming it.
 */
import { needNames } from '@fantail/access'
import { FantailError, type QuotaRecord, quotaName } from '@fantail/contracts'
import {
  QuotaInput,
  QuotaList,
  QuotaListQuery,
  QuotaReference,
  QuotaView,
} from '@fantail/contracts/schemas/access/quota-schemas'
import { bytesOfQuotas } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'

const TAG = 'Keys'

export function quotaRoutes(deps: ApiDeps): Endpoint[] {
  const one = { path: '/v1/quotas/{prefix}', params: { prefix: QuotaReference }, tag: TAG } as const
  return [
    endpoint({
      id: 'listQuotas',
      method: 'GET',
      path: '/v1/quotas',
      tag: TAG,
      summary: 'List the quotas of customers',
      description:
        'Shows each with what it is used for now. A key with prefixes sees the quotas of names that it may see.',
      query: QuotaListQuery,
      answers: { 200: { description: 'A page, sorted by prefix', schema: QuotaList } },
      handle: (call) => listQuotas(deps, call),
    }),
    endpoint({
      ...one,
      id: 'getQuota',
      method: 'GET',
      summary: 'Read the quota of a customer',
      description: 'Shows the bounds, and what exists of the topics whose names begin with the prefix.',
      answers: { 200: { description: 'The quota', schema: QuotaView } },
      errors: ['not_found'],
      handle: (call) => getQuota(deps, call),
    }),
    endpoint({
      ...one,
      id: 'putQuota',
      method: 'PUT',
      summary: 'Bound what a customer may have',
      description:
        'Bounds topics, subscriptions and stored bytes of all topics whose names begin with the prefix. Creations and ' +
        'publishes past it get 403 `quota_exceeded`; what exists already stays. Stored bytes are compared every 5 s.',
      body: QuotaInput,
      answers: {
        200: { description: 'It existed: the bounds given are set', schema: QuotaView },
        201: { description: 'Made', schema: QuotaView },
      },
      errors: ['conflict', 'storage_full'],
      handle: (call) => putQuota(deps, call),
    }),
    endpoint({
      ...one,
      id: 'deleteQuota',
      method: 'DELETE',
      summary: 'Remove the quota of a customer',
      description: 'Topics, subscriptions and messages stay, and are no longer bounded by it.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: (call) => deleteQuota(deps, call),
    }),
  ]
}

const PREFIX = /^[A-Za-z0-9_-]{1,256}$/

function placeOf({ settings }: ApiDeps, { params, caller }: Call): { account: string; prefix: string } {
  const prefix = params.prefix ?? ''
  if (!PREFIX.test(prefix)) throw FantailError.invalid('prefix', 'must be 1 to 256 of A-Z a-z 0-9 _ -')
  return { account: caller?.account ?? settings.arn.account, prefix }
}

async function listQuotas(
  deps: ApiDeps,
  { query, caller }: Call<z.output<typeof QuotaListQuery>>,
): Promise<Answer> {
  const account = caller?.account ?? deps.settings.arn.account
  const { items, nextCursor } = await deps.quotas.list({
    ...query,
    account,
    within: caller?.prefixes ?? [],
  })
  return ok({ quotas: await viewsOf(deps, account, items), nextCursor })
}

async function getQuota(deps: ApiDeps, call: Call): Promise<Answer> {
  const { account, prefix } = placeOf(deps, call)
  if (call.caller) needNames(call.caller, prefix)
  const quota = await deps.quotas.get(account, prefix)
  if (!quota) throw notFound('quota')
  return ok(await viewOf(deps, quota))
}

async function putQuota(deps: ApiDeps, call: Call<unknown, z.output<typeof QuotaInput>>): Promise<Answer> {
  const { account, prefix } = placeOf(deps, call)
  const { quota, created } = await deps.quotas.put(account, prefix, call.body)
  await deps.quotaWatch.refresh()
  return { status: created ? 201 : 200, body: await viewOf(deps, quota) }
}

async function deleteQuota(deps: ApiDeps, call: Call): Promise<Answer> {
  const { account, prefix } = placeOf(deps, call)
  await deps.quotas.delete(account, prefix)
  await deps.quotaWatch.refresh()
  return NO_CONTENT
}

async function viewOf(deps: ApiDeps, quota: QuotaRecord): Promise<object> {
  const [view = {}] = await viewsOf(deps, quota.account, [quota])
  return view
}

async function viewsOf(
  { quotas, storedBytes }: ApiDeps,
  account: string,
  items: QuotaRecord[],
): Promise<z.input<typeof QuotaView>[]> {
  if (items.length === 0) return []
  const [used, byTopic] = await Promise.all([
    quotas.used(
      account,
      items.map(({ prefix }) => prefix),
    ),
    storedBytes.get(),
  ])
  const bytes = bytesOfQuotas(byTopic, new Set(items.map(quotaName)))
  return items.map((quota, i) => {
    const { prefix, topics, subscriptions, storedBytes: bytesMax } = quota
    const { topics: topicsUsed = 0, subscriptions: subscriptionsUsed = 0 } = used[i] ?? {}
    const now = {
      topics: topicsUsed,
      subscriptions: subscriptionsUsed,
      storedBytes: bytes.get(quotaName(quota)) ?? 0,
    }
    return { prefix, topics, subscriptions, storedBytes: bytesMax, used: now }
  })
}
