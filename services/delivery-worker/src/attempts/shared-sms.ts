/**
 * Connects attempts to send text messages with the spend and the opted-out numbers in Redis, which all processes share.
 * Also counts these attempts.
 */
import type { SmsTools } from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { type Redis, SmsState } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'

interface SmsToolsOptions {
  metrics: Pick<Metrics, 'textMessages'>
  log: Pick<Logger, 'warn'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export function createSmsTools(redis: Redis, { metrics, log, now }: SmsToolsOptions): SmsTools {
  const state = new SmsState(redis, {
    clock: now,
    onProblem: (error) => log.warn({ err: error }, 'sms.notKept'),
  })
  return {
    reserve: (asked) => state.reserve(asked),
    defaults: () => state.defaults(),
    refund: (spend) => state.refund(spend),
    noteOptOut: (number) => state.noteOptOut(number),
    onEnd: (end) => metrics.textMessages.of({ end }).add(),
  }
}
