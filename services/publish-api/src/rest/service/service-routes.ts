/** Health, readiness, metrics, running processes, certificates and the time of a private stack. */
import {
  AdvanceInput,
  HealthAnswer,
  ReadyAnswer,
  ServiceList,
} from '@fantail/contracts/schemas/service-schemas'
import { METRICS_CONTENT_TYPE, readyAnswer } from '@fantail/runtime'
import { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'
import type { Travelled } from '../../travel/time-travel.ts'

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

type View = z.input<typeof ServiceList>

/** The processes of Fantail that run now. */
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
      handle: () => listServices(processes),
    }),
  ]
}

async function listServices(processes: ApiDeps['processes']): Promise<Answer> {
  const { at, processes: found, data = null } = await processes.get()
  const view: View = {
    at: iso(at),
    processes: found.map(({ lastSeenAt, ...report }) => ({ ...report, lastSeenAt: iso(lastSeenAt) })),
    data,
  }
  return ok(view)
}

const HEADERS = { 'Content-Type': 'application/x-pem-file', 'Cache-Control': 'public, max-age=86400' }

const CertificateName = z
  .string()
  .describe('Name of the certificate: 32 hex digits, as `SigningCertURL` has it.')

/**
 * Certificates with which subscribers verify signatures. Everybody may read them, as in SNS. A certificate never
 * changes under its name.
 */
export function certificateRoutes({ certificates }: Pick<ApiDeps, 'certificates'>): Endpoint[] {
  return [
    endpoint({
      id: 'getSigningCertificate',
      method: 'GET',
      path: '/SimpleNotificationService-{name}.pem',
      params: { name: CertificateName },
      where: { name: '[0-9a-f]{32}' },
      tag: 'AWS',
      summary: 'Get a certificate that messages are signed with',
      description:
        '`SigningCertURL` of signed messages names it. A certificate never changes under its name, so it may be cached.',
      answers: { 200: { description: 'X.509 in PEM', contentType: HEADERS['Content-Type'] } },
      errors: ['not_found'],
      handle: async ({ params }) => {
        const text = await certificates.certificate(params.name ?? '')
        if (text === null) throw notFound('certificate')
        return { status: 200, text, headers: HEADERS }
      },
    }),
  ]
}

/**
 * The route that moves the time of a private stack. It exists only with FANTAIL_TIME_TRAVEL. The OpenAPI document
 * leaves it out, because servers that deliver real messages do not have it.
 */
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
