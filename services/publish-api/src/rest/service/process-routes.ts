/** The processes of Fantail that run now. */
import { ServiceList } from '@fantail/contracts/schemas/service-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { iso } from '../../http/record-views.ts'

type View = z.input<typeof ServiceList>

export function processRoutes({ processes }: Pick<ApiDeps, 'processes'>): Endpoint[] {
  return [
    endpoint({
      id: 'listServices',
      method: 'GET',
      path: '/v1/services',
      tag: 'Service',
      summary: 'List the processes that run now',
      description:
        'APIs, workers and redrive services, with their release, their load and their slots. Each reports every ten ' +
        'seconds. A process that stops leaves the list at once, one that was killed after 35 seconds. For keys of the ' +
        'server’s own account without prefixes.',
      answers: { 200: { description: 'The processes', schema: ServiceList } },
      errors: [],
      handle: () => listServices(processes),
    }),
  ]
}

async function listServices(processes: ApiDeps['processes']): Promise<Answer> {
  const { at, processes: found } = await processes.get()
  const view: View = {
    at: iso(at),
    processes: found.map(({ lastSeenAt, ...report }) => ({ ...report, lastSeenAt: iso(lastSeenAt) })),
  }
  return ok(view)
}
