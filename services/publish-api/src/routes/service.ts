/** Health, readiness, metrics. */
import { HealthAnswer, ReadyAnswer } from '@fantail/contracts'
import { METRICS_CONTENT_TYPE, runChecks } from '@fantail/runtime'
import type { ApiDeps } from '../deps.ts'
import { type Endpoint, endpoint, ok } from '../http/endpoint.ts'

export function serviceRoutes({ checks, renderMetrics }: ApiDeps): Endpoint[] {
  const tag = 'Service'
  return [
    endpoint({
      method: 'GET',
      path: '/healthz',
      tag,
      summary: 'Whether the process lives',
      answers: { 200: { description: 'It does', schema: HealthAnswer } },
      errors: [],
      handle: () => ok({ status: 'ok' }),
    }),
    endpoint({
      method: 'GET',
      path: '/readyz',
      tag,
      summary: 'Whether the process can do its work now',
      answers: {
        200: { description: 'It can', schema: ReadyAnswer },
        503: { description: 'It cannot: the checks say why', schema: ReadyAnswer },
      },
      errors: [],
      handle: async () => {
        const { ready, checks: results } = await runChecks(checks)
        return { status: ready ? 200 : 503, body: { checks: results } }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/metrics',
      tag,
      summary: 'Metrics for Prometheus',
      answers: { 200: { description: 'The text format', contentType: 'text/plain' } },
      errors: [],
      handle: async () => ({
        status: 200,
        text: await renderMetrics(),
        headers: { 'Content-Type': METRICS_CONTENT_TYPE },
      }),
    }),
  ]
}
