/**
 * Makes the tools with which attempters of mails, text messages and notifications use data that all processes share in
 * Redis: suppressed addresses, the spend, numbers that have opted out, and platform applications. The tools also count
 * mails and text messages.
 */
import { DamagedDataError, type MailTools, type MobilePushTools, type SmsTools } from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { isUnreadable, MailState, type Redis, SmsState, UnreadableRecordError } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'

interface ToolsOptions {
  metrics: Pick<Metrics, 'mailAttempts' | 'smsAttempts'>
  log: Pick<Logger, 'warn'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export function createMailTools(redis: Redis, { metrics, log, now }: ToolsOptions): MailTools {
  const state = new MailState(redis, {
    clock: now,
    onProblem: (error) => log.warn({ err: error }, 'mail.suppress_failed'),
  })
  return {
    linkKey: () => state.linkKey(),
    isSuppressed: (address) => undamaged('the suppression list', state.isSuppressed(address)),
    suppress: (address, detail) => state.suppress(address, detail),
    takeOfDomain: (domain, rate) => state.takeOfDomain(domain, rate),
    onResult: (result) => metrics.mailAttempts.of({ result }).add(),
  }
}

export function createSmsTools(redis: Redis, { metrics, log, now }: ToolsOptions): SmsTools {
  const state = new SmsState(redis, {
    clock: now,
    onProblem: (error) => log.warn({ err: error }, 'sms.write_failed'),
  })
  return {
    reserve: (asked) => undamaged('data of text messages', state.reserve(asked)),
    defaults: () => undamaged('data of text messages', state.defaults()),
    refund: (spend) => state.refund(spend),
    noteOptOut: (number) => state.noteOptOut(number),
    onResult: (result) => metrics.smsAttempts.of({ result }).add(),
  }
}

/** A damaged application stops all of its endpoints, and a damaged endpoint only itself. */
export function createMobilePushTools(state: MobilePushTools): MobilePushTools {
  return {
    application: (arn) => undamaged('the platform application', state.application(arn)),
    endpoint: (arn) => state.endpoint(arn),
    disable: (endpoint, application) => state.disable(endpoint, application),
    publishOwed: (endpoint, application) => state.publishOwed(endpoint, application),
  }
}

async function undamaged<T>(what: string, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const { message } = error
    const detail =
      error instanceof UnreadableRecordError ? `${error.key}: ${(error.cause as Error).message}` : message
    throw new DamagedDataError(`${what} cannot be read: ${detail}`, { cause: error })
  }
}
