/**
 * Throughput of Fantail, compared with a fan-out by hand and with only the HTTP client, in alternating rounds of one
 * run. With `--against`, the Fantail of an earlier commit takes part too.
 */
import { contest } from '../../contest/contest.ts'
import { NAMES, type Name } from '../../contest/contestant.ts'
import { withCheckout } from '../../processes/checkout.ts'
import { rowOf } from '../../report/rows.ts'
import { cpuOf, figure, figureOf, type Rounds, ratios, sum } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { cpuMicrosOf } from '../../stage.ts'

interface Bars {
  bullmq: number
  bare?: number
}

export const fanOut10 = scenario(10, { bullmq: 7, bare: 0.9 })
export const fanOut1 = scenario(1, { bullmq: 3 })

function scenario(fanOut: number, bars: Bars): Scenario {
  return {
    name: `fanout-${fanOut}`,
    summary: `deliveries/s at fan-out ${fanOut}, against BullMQ by hand and a bare request loop`,
    run: async (options) => {
      const { against } = options
      if (against === undefined) return rowsOf(await measured(fanOut, options), bars)
      return withCheckout(against, async (tree) => {
        const rounds = await measured(fanOut, options, tree)
        return [...rowsOf(rounds, bars), ...earlierRows(rounds)]
      })
    },
  }
}

async function measured(
  fanOut: number,
  { quick, report, profileDir }: ScenarioOptions,
  earlierTree?: string,
): Promise<Rounds> {
  const scenarios = await contest({
    rounds: quick ? 3 : 5,
    seconds: quick ? 1 : 4,
    warmUpSeconds: quick ? 1 : 3,
    budgetSeconds: Number.POSITIVE_INFINITY,
    fanOuts: [fanOut],
    names: earlierTree === undefined ? [...NAMES] : ['earlier', ...NAMES],
    earlierTree,
    profileDir,
    report,
  })
  return scenarios.get(`fanout-${fanOut}`) ?? {}
}

function rowsOf(rounds: Rounds, bars: Bars): Row[] {
  const note = `${sum(rounds.fantail, 'lost')} lost, ${sum(rounds.fantail, 'duplicates')} twice`
  const perSecond = (name: Name) => figure(rounds[name], 'deliveriesPerSecond')
  const { services, redis } = cpuOf(rounds.fantail)
  return [
    rowOf('deliveries', perSecond('fantail'), { unit: '/s', note }),
    rowOf('BullMQ by hand', perSecond('bullmq'), { unit: '/s' }),
    rowOf('bare `request` loop', perSecond('bare'), { unit: '/s' }),
    rowOf('Fantail : BullMQ by hand', figureOf(ratios(rounds, 'bullmq')), {
      unit: '×',
      atLeast: bars.bullmq,
    }),
    rowOf('Fantail : bare loop', figureOf(ratios(rounds, 'bare')), {
      unit: '×',
      ...(bars.bare === undefined ? {} : { atLeast: bars.bare }),
    }),
    rowOf('CPU per delivery, processes', services, { unit: 'µs' }),
    rowOf('CPU per delivery, Redis', redis, { unit: 'µs' }),
  ]
}

function earlierRows(rounds: Rounds): Row[] {
  const cpu = ratios(rounds, 'earlier', (measured) => 1 / cpuMicrosOf(measured))
  return [
    rowOf('the earlier commit', figure(rounds.earlier, 'deliveriesPerSecond'), { unit: '/s' }),
    rowOf('Fantail : the earlier commit', figureOf(ratios(rounds, 'earlier')), { unit: '×' }),
    rowOf('CPU per delivery, the earlier commit : Fantail', figureOf(cpu), { unit: '×' }),
  ]
}
