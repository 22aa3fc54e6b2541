/**
 * Connects attempts to send mails with the data about mails in Redis, which all processes share. Also counts these
 * attempts.
 */
import type { MailTools } from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { MailState, type Redis } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'

interface MailToolsOptions {
  metrics: Pick<Metrics, 'mails'>
  log: Pick<Logger, 'warn'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export function createMailTools(redis: Redis, { metrics, log, now }: MailToolsOptions): MailTools {
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
