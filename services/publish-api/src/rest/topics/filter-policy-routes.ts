/** Tries a filter policy on a message, clause by clause, to explain why the message would be delivered or not. */
import { isObject, type Problem } from '@fantail/contracts'
import {
  FilterTestAnswer,
  FilterTestInput,
} from '@fantail/contracts/schemas/subscriptions/filter-policy-schemas'
import { textForProtocol } from '@fantail/delivery'
import { VALUES_SHOWN_MAX } from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { readMessages } from '../../messages/read-messages.ts'
import type { FilterTrials } from '../../subscriptions/filter-trials.ts'
import { filterProblems } from '../../subscriptions/filters.ts'
import { filterReplayRoute } from '../messages/filter-replay.ts'

export function filterPolicyRoutes(deps: ApiDeps, trials: FilterTrials): Endpoint[] {
  return [
    filterReplayRoute(deps, trials, problemsOf),
    endpoint({
      id: 'testFilterPolicy',
      method: 'POST',
      path: '/v1/filter-policies/test',
      tag: 'Filter policies',
      summary: 'Which clauses of a filter policy a message satisfies',
      description:
        'Nothing is published or changed. Clauses of a rule are judged one by one; if several lie under one array, they must hold in the same element, ' +
        'so that `matched` may be false although each clause is. ' +
        `At most ${VALUES_SHOWN_MAX} values of a key that satisfy nothing are shown.`,
      body: FilterTestInput,
      check: problemsOf,
      answers: { 200: { description: 'Verdict by clause', schema: FilterTestAnswer } },
      errors: [],
      handle: ({ body }) => tryFilter(body, trials),
    }),
  ]
}

function problemsOf({ filterPolicy, filterPolicyScope }: Record<string, unknown>): Problem[] {
  if (!isObject(filterPolicy)) return []
  return filterProblems({
    filterPolicy,
    filterPolicyScope: filterPolicyScope === 'MessageBody' ? filterPolicyScope : 'MessageAttributes',
  })
}

async function tryFilter(
  {
    filterPolicy,
    filterPolicyScope: scope = 'MessageAttributes',
    message,
    protocol = 'http',
  }: z.output<typeof FilterTestInput>,
  trials: FilterTrials,
): Promise<Answer> {
  const written = JSON.stringify(message)
  const [given] = readMessages(written).messages
  const { structure, attributes } = given ?? {}
  const text = textForProtocol({ message: given?.message ?? '', ...(structure && { structure }) }, protocol)
  const bytes = Buffer.byteLength(written)
  return ok(await trials.explain({ filterPolicy, scope, message: text, attributes, bytes }))
}
