/**
 * The route that moves the time of a private stack. It exists only with FANTAIL_TIME_TRAVEL. The OpenAPI document
 * leaves it out, because servers that deliver real messages do not have it.
 */
import { AdvanceInput } from '@fantail/contracts/schemas/service-schemas'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import type { Travelled } from '../../time/time-travel.ts'

export function timeRoutes({ settings, travel }: Pick<ApiDeps, 'settings' | 'travel'>): Endpoint[] {
  if (settings.timeTravel !== 'on') return []
  return [
    endpoint({
      id: 'advanceTime',
      method: 'POST',
      path: '/v1/time/advance',
      tag: 'Service',
      summary: 'Move the time of this stack',
      description: 'Answers when everything that became due on the way is attempted and settled.',
      body: AdvanceInput,
      answers: { 200: { description: 'The new time, and the steps on the way' } },
      errors: ['conflict', 'wrong_state', 'storage_unavailable'],
      handle: async ({ body: { seconds, timeoutMs } }) =>
        ok(shown(await travel.advance(Math.round(seconds * 1_000), timeoutMs))),
    }),
  ]
}

function shown({ time, steps }: Travelled) {
  const iso = (epochMs: number) => new Date(epochMs).toISOString()
  return {
    time: iso(time),
    steps: steps.length,
    due: steps.reduce((sum, { count }) => sum + count, 0),
    way: steps.map(({ realTime, time, ...due }) => ({ realTime: iso(realTime), time: iso(time), ...due })),
  }
}
