/** Statistics: counts of published and delivered messages, by minute or hour. */
import { isVisible } from '@fantail/access'
import { FantailError, parseArn, parseMessageId, resolveTopic } from '@fantail/contracts'
import { StatsQuery, StatsView } from '@fantail/contracts/schemas/overview/stats-schemas'
import type { SeriesKind, Stats } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'

type Query = z.output<typeof StatsQuery>
type View = z.input<typeof StatsView>

/** Topics that are added up for a key with prefixes. Past it: only the topics with the latest counts. */
const SUMMED_TOPICS_MAX = 50

interface Series {
  kind: SeriesKind
  names: string[]
  isComplete: boolean
}

export function statsRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'getStats',
      method: 'GET',
      path: '/v1/stats',
      tag: 'Service',
      summary: 'Read statistics over time',
      description:
        'Counts by minute for 24 hours and by hour for 30 days, up to now: all together, or of one topic or ' +
        'subscription. Processes add what they have counted every five seconds and when they stop. A process that ' +
        'crashes loses at most its last five seconds.',
      query: StatsQuery,
      answers: { 200: { description: 'The statistics', schema: StatsView } },
      errors: ['not_found'],
      handle: (call) => readStats(deps, call),
    }),
  ]
}

async function readStats(deps: ApiDeps, { query, caller }: Call<Query>): Promise<Answer> {
  const { range, topic, subscription } = query
  if (topic !== undefined && subscription !== undefined)
    throw FantailError.invalid('subscription', 'must not be given together with topic')
  const { kind, names, isComplete } = await seriesFor(deps, query, caller)
  const [stats, isKept] = await Promise.all([
    deps.stats.read(kind, names, range),
    kind === 'a' || names.length !== 1 || deps.stats.isKept(kind, names[0] ?? ''),
  ])
  return ok(viewOf(isKept ? stats : withoutSteps(stats), { range, kind, isKept, isComplete }))
}

async function seriesFor(
  deps: ApiDeps,
  { topic, subscription }: Query,
  caller: Call['caller'],
): Promise<Series> {
  if (topic !== undefined) {
    const arn = resolveTopic(topic, deps.settings.arn)
    if (!(await deps.topicCache.find(arn))) throw notFound('topic')
    return { kind: 't', names: [arn], isComplete: true }
  }
  if (subscription !== undefined) {
    const id = parseArn(subscription)?.subscriptionId ?? subscription
    const record = parseMessageId(id) ? await deps.subscriptions.get(id) : null
    if (!record) throw notFound('subscription')
    return { kind: 's', names: [record.id], isComplete: true }
  }
  if (caller === null || caller.prefixes.length === 0) {
    return { kind: 'a', names: [caller?.account ?? deps.settings.arn.account], isComplete: true }
  }
  const own = (await deps.stats.topics()).filter((arn) => isVisible(caller, arn))
  return { kind: 't', names: own.slice(0, SUMMED_TOPICS_MAX), isComplete: own.length <= SUMMED_TOPICS_MAX }
}

function withoutSteps(stats: Stats): Stats {
  const none = { at: [], published: [], delivered: [], failed: [], deadLettered: [], p50Ms: [], p99Ms: [] }
  return { ...stats, ...none }
}

function viewOf(
  { stepMs, at, published, ...lists }: Stats,
  {
    range,
    kind,
    isKept,
    isComplete,
  }: { range: View['range']; kind: SeriesKind; isKept: boolean; isComplete: boolean },
): View {
  return {
    range,
    stepSeconds: stepMs / 1_000,
    kept: isKept,
    complete: isComplete,
    at: at.map(iso),
    published: kind === 's' ? null : published,
    ...lists,
  }
}
