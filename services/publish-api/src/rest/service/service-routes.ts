/** Health, readiness, metrics. */
import { HealthAnswer, ReadyAnswer } from '@fantail/contracts/schemas/service-schemas'
import { METRICS_CONTENT_TYPE, readyAnswer } from '@fantail/runtime'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Endpoint, endpoint, ok } from '../../http/endpoint.ts'

export function serviceRoutes({ checks, health, build, renderMetrics, settings }: ApiDeps): Endpoint[] {
  const tag = 'Service' as const
  return [
    endpoint({
      id: 'getHealth',
      method: 'GET',
      path: '/healthz',
      tag,
      summary: 'Whether the process lives',
      description: 'For liveness probes. It asks nothing of Redis.',
      answers: { 200: { description: 'It does', schema: HealthAnswer } },
      errors: [],
      handle: () => ok({ status: 'ok' }),
    }),
    endpoint({
      id: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      tag,
      summary: 'Whether the process can do its work now',
      description:
        'For readiness probes and load balancers: every check must be `ok`. The log has the reasons. A process that works ' +
        'is `degraded` where Redis would lose messages or refuses them: the answer stays 200, and names the reasons.',
      answers: {
        200: { description: 'It can', schema: ReadyAnswer },
        503: { description: 'It cannot: the checks say why', schema: ReadyAnswer },
      },
      errors: [],
      handle: async () => {
        const degradations = () => health.degradations()
        const { status, body } = await readyAnswer({ checks, degradations, build })
        const shown = settings.auth ? withoutReasons(body.checks) : body.checks
        return { status, body: { ...body, checks: shown } }
      },
    }),
    endpoint({
      id: 'getMetrics',
      method: 'GET',
      path: '/metrics',
      tag,
      summary: 'Metrics for Prometheus',
      description: 'In the text format that Prometheus scrapes. Each process has metrics of its own.',
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

/**
 * Reasons name hosts and users of other systems, and this route needs no key even if keys are required. The log has the
 * reasons.
 */
function withoutReasons(results: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(results).map(([name, result]) => [name, result === 'ok' ? result : 'failed']),
  )
}
