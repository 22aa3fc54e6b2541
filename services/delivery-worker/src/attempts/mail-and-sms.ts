/**
 * Connects attempts to send mails and text messages with what all processes share about them in Redis: suppressed
 * addresses, the spend, and numbers that have opted out. Also counts these attempts.
 */
import type { MailTools, SmsTools } from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { MailState, type Redis, SmsState } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'

interface ToolsOptions {
  metrics: Pick<Metrics, 'mails' | 'textMessages'>
  log: Pick<Logger, 'warn'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export function createMailTools(redis: Redis, { metrics, log, now }: ToolsOptions): MailTools {
  const state = new MailState(redis, {
    clock: now,
    onProblem: (error) => log.warn({ err: error }, 'mail.unsuppressed'),
  })
  return {
    linkKey: () => state.linkKey(),
    isSuppressed: (address) => state.isSuppressed(address),
    suppress: (address, detail) => state.suppress(address, detail),
    takeOfDomain: (domain, rate) => state.takeOfDomain(domain, rate),
    onEnd: (end) => metrics.mails.of({ end }).add(),
  }
}

export function createSmsTools(redis: Redis, { metrics, log, now }: ToolsOptions): SmsTools {
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
