/** `fantail curve` shows when a retry policy retries. It computes as the worker does, and needs no server. */
import {
  checkDeliveryPolicy,
  effectivePolicy,
  PRESETS,
  parseDeliveryPolicy,
  previewRetries,
} from '@fantail/policy'
import { type Define, examples } from '../../frame/command-context.ts'
import { readObject } from '../../frame/command-input.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { counted, tableText } from '../../output/text-table.ts'

const PLOT_WIDTH = 50

interface CurveFlags {
  preset?: string
  plot?: boolean
  outage?: string
}

export const curve: Define = (command, does) => {
  command
    .argument('[policy]', 'a delivery or retry policy as JSON, @FILE, or - for stdin; default: SNS’s own')
    .option('--preset <name>', `a named curve: ${Object.keys(PRESETS).join(', ')}`)
    .option('--plot', 'draws the time of each retry')
    .option('--outage <time>', 'says which retry is the first after an outage of this length (30m)')
    .action(
      does(async (context, given: string | undefined, { preset, plot = false, outage }: CurveFlags) => {
        const policy = given === undefined ? {} : await readObject(given, 'the policy', context)
        const retries = previewRetries(retryPolicy(preset === undefined ? policy : { ...policy, preset }))
        const outageMs = outage === undefined ? undefined : parseDuration(outage, '--outage')
        const end = outageMs === undefined ? [] : [outageText(retries, outageMs)]
        if (context.out.json) for (const retry of retries) context.out.line(lineOf(retry, outageMs))
        else context.out.line([...retriesText(retries, plot), summary(retries), ...end].join('\n'))
      }),
    )
  examples(
    command,
    'curve @policy.json --plot --outage 30m',
    'curve --preset patient',
    `curve '{"numRetries":10,"minDelayTarget":5,"maxDelayTarget":60,"backoffFunction":"exponential"}'`,
  )
}

/** The policy in force. Throws if the given policy is wrong. The input may also be only a `healthyRetryPolicy`. */
function retryPolicy(given: Record<string, unknown>) {
  const isWhole = ['healthyRetryPolicy', 'throttlePolicy', 'requestPolicy'].some((group) => group in given)
  const policy = isWhole || Object.keys(given).length === 0 ? given : { healthyRetryPolicy: given }
  const problems = checkDeliveryPolicy(policy, { path: 'policy', contentTypes: 'raw' })
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => `${path} ${message}`)
    throw new CommandError('usage', lines.join('\n'))
  }
  return effectivePolicy({ deliveryPolicy: parseDeliveryPolicy(policy), disableSubscriptionOverrides: false })
    .healthyRetryPolicy
}

type Retries = ReturnType<typeof previewRetries>

function retriesText(retries: Retries, plot: boolean): string[] {
  const last = retries.at(-1)?.atSeconds || 1
  const rows = retries.map(({ retry, phase, delaySeconds, atSeconds }) => [
    retry,
    phase,
    durationText(delaySeconds * 1_000),
    durationText(atSeconds * 1_000),
    ...(plot ? [`${' '.repeat(Math.round((atSeconds / last) * PLOT_WIDTH))}●`] : []),
  ])
  return tableText(['RETRY', 'PHASE', 'DELAY', 'AFTER', ...(plot ? [''] : [])], rows)
}

function summary(retries: Retries): string {
  const last = retries.at(-1)
  if (!last) return 'no retries: the first failure is the end'
  return `${counted(retries.length, 'retry', 'retries')}, the last ${durationText(last.atSeconds * 1_000)} after the first attempt`
}

/** The line of a retry. With an outage, it also says whether the retry comes after the end of the outage. */
function lineOf(retry: Retries[number], outageMs: number | undefined): string {
  if (outageMs === undefined) return JSON.stringify(retry)
  return JSON.stringify({ ...retry, afterOutage: retry.atSeconds * 1_000 >= outageMs })
}

/** The outage begins with the first attempt, which is the worst case. */
function outageText(retries: Retries, outageMs: number): string {
  const outage = `an outage of ${durationText(outageMs)}`
  const first = retries.find(({ atSeconds }) => atSeconds * 1_000 >= outageMs)
  if (!first) return `${outage} outlasts the retries: the message ends in the dead-letter queue`
  const lateMs = first.atSeconds * 1_000 - outageMs
  return `after ${outage} retry ${first.retry} delivers, ${durationText(lateMs)} after its end`
}
