/** Finds topics, subscriptions, queues and keys by words of their names. */
import type { Caller } from '@fantail/access'
import type { ApiKeyRecord } from '@fantail/contracts'
import { NamesAnswer, NamesQuery } from '@fantail/contracts/schemas/overview/name-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { isNameVisible, type Named, rankNames } from '../../names/names.ts'

/** Keys whose names are searched. Past it: the answer says so. */
const KEYS_SEARCHED_MAX = 1_000

export function nameRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'findByName',
      method: 'GET',
      path: '/v1/search/names',
      tag: 'Service',
      summary: 'Find topics, subscriptions, queues and keys by name',
      description:
        'Finds what has all words in its names, in any order: a subscription by its name, topic, host and metadata. A ' +
        'caller sees what lists show it, and keys if it may list them. Names are read again after 2 to 15 s.',
      query: NamesQuery,
      answers: { 200: { description: 'The finds, the best first', schema: NamesAnswer } },
      handle: (call) => findNames(deps, call),
    }),
  ]
}

async function findNames(
  deps: ApiDeps,
  { query, caller }: Call<z.output<typeof NamesQuery>>,
): Promise<Answer> {
  const { topics, subscriptions, queues, isComplete } = await deps.names.get()
  const keys = await namedKeys(deps, caller)
  const seen = [...topics, ...subscriptions, ...queues].filter((name) => isNameVisible(caller, name))
  const found = rankNames([...seen, ...keys.names], query.text)
  const complete = isComplete && keys.isWhole
  return ok({ found: found.slice(0, query.limit), matched: found.length, complete })
}

async function namedKeys(
  { keys }: Pick<ApiDeps, 'keys'>,
  caller: Caller,
): Promise<{ names: Named[]; isWhole: boolean }> {
  const mayList = caller === null || (caller.scopes.has('manage') && caller.prefixes.length === 0)
  if (!mayList) return { names: [], isWhole: true }
  const account = caller?.account
  const { items, nextCursor } = await keys.list({
    limit: KEYS_SEARCHED_MAX,
    ...(account !== undefined && { account }),
  })
  return { names: items.map(namedKey), isWhole: nextCursor === null }
}

function namedKey({ id, name }: ApiKeyRecord): Named {
  const found = { kind: 'key' as const, id, name: name ?? null, arn: null, topic: null, host: null }
  return {
    found,
    of: [],
    texts: [
      [(name ?? '').toLowerCase(), 4],
      [id.toLowerCase(), 1],
    ],
  }
}
