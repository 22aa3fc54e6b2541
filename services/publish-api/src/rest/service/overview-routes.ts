/** The state of the server in one answer: totals, problems that need attention, dead letters, memory. */
import { isVisible } from '@fantail/access'
import { OverviewView } from '@fantail/contracts/schemas/overview/overview-schemas'
import { PUBLISH_SHARE, type Totals } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { iso } from '../../http/record-views.ts'
import type { Board, JudgedLane } from '../../lanes/lane-board.ts'
import { byProblem, isInNeed } from '../../lanes/rank-lanes.ts'
import { countVerdicts, rowsOf, sums } from '../topics/lane-routes.ts'

type View = z.input<typeof OverviewView>

const PROBLEMS_SHOWN = 10
const FULLEST_SHOWN = 5

export function overviewRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'getOverview',
      method: 'GET',
      path: '/v1/overview',
      tag: 'Service',
      summary: 'See the server at a glance',
      description:
        'Totals of what the caller may see, the lanes that need attention, dead letters, and how full Redis is. ' +
        'Lanes are read at most every two seconds, totals every ten.',
      answers: { 200: { description: 'The overview', schema: OverviewView } },
      handle: (call) => readOverview(deps, call),
    }),
  ]
}

async function readOverview(deps: ApiDeps, { caller }: Call): Promise<Answer> {
  const [board, totals] = await Promise.all([deps.laneBoard.read(), deps.totals.get()])
  const isOwn = (arn: string) => isVisible(caller, arn)
  const lanes = board.lanes.filter(({ subscription }) => isOwn(subscription.topicArn))
  const inNeed = lanes.filter(isInNeed)
  const topics = totals.topics.filter(({ arn }) => isOwn(arn))
  const seesServer =
    caller === null || (caller.prefixes.length === 0 && caller.account === deps.settings.arn.account)
  const overview: View = {
    at: iso(board.at),
    ...deps.build,
    complete: board.isComplete && totals.isComplete,
    topics: topics.length,
    subscriptions: topics.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
    ...sums(lanes),
    inNeed: inNeed.length,
    verdicts: countVerdicts(lanes),
    problems: await problemsOf(deps, board, inNeed),
    ...lettersOf(totals, isOwn),
    activeRedrives: totals.redriving.filter(isOwn).length,
    memory: seesServer ? memoryView(totals) : null,
  }
  return ok(overview)
}

/** Many lanes of one host that is down are one problem, so that they hide no other. */
async function problemsOf(deps: ApiDeps, board: Board, inNeed: JudgedLane[]): Promise<View['problems']> {
  const shown = byProblem(inNeed, board.at).slice(0, PROBLEMS_SHOWN)
  const rows = await Promise.all(shown.map(({ lanes: [worst] }) => rowsOf(deps, board, [worst])))
  return shown.flatMap(({ host, lanes }, i) => {
    const [worst] = rows[i] ?? []
    return worst ? [{ host, lanes: lanes.length, waiting: sums(lanes).waiting, worst }] : []
  })
}

function lettersOf(
  totals: Totals,
  isOwn: (arn: string) => boolean,
): Pick<View, 'queues' | 'deadLetters' | 'fullest'> {
  const queues = totals.queues.filter(({ arn }) => isOwn(arn))
  const holding = queues.filter(({ deadLetters }) => deadLetters > 0)
  const fullest = holding.toSorted((a, b) => b.deadLetters - a.deadLetters).slice(0, FULLEST_SHOWN)
  return {
    queues: queues.length,
    deadLetters: holding.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    fullest: fullest.map(({ arn, deadLetters }) => ({ queueArn: arn, deadLetters })),
  }
}

/** JSON has no Infinity. */
function memoryView({ memory: { usedBytes, limitBytes } }: Totals): View['memory'] {
  const isKnown = Number.isFinite(limitBytes)
  return {
    usedBytes,
    limitBytes: isKnown ? Math.floor(limitBytes) : null,
    watermarkBytes: isKnown ? Math.floor(limitBytes * PUBLISH_SHARE) : null,
  }
}
