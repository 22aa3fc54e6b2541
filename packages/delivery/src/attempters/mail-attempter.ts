/**
 * Makes attempts at mail addresses. An attempt sends one mail over SMTP to one address.
 *
 * | case | result |
 * |---|---|
 * | suppressed address | permanent, nothing is sent |
 * | the suppression list is damaged | `misconfigured`, nothing is sent |
 * | the domain's rate is exceeded, or too many mails are under way | retry, nothing is sent |
 * | otherwise | by the server's reply (mail/smtp-outcome.ts) |
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { AttemptResult } from '@fantail/contracts'
import { comparableAddress, domainOfAddress } from '@fantail/policy'
import { attemptDeadline, untilAborted } from '../bounds/attempt-deadline.ts'
import { UnderWay } from '../bounds/under-way.ts'
import { type MailResult, type MailSettings, type MailTools, senderOf } from '../mail/mail-settings.ts'
import { renderMail } from '../mail/render-mail.ts'
import type { SmtpOutcome } from '../mail/smtp-outcome.ts'
import { createSmtpTransport, type SmtpTransport } from '../mail/smtp-transport.ts'
import { type Attempt, type AttemptDone, type Attempter, DamagedDataError } from './attempter.ts'

/** @limit How long a mail waits for its domain's rate. Past it: the attempt fails and is retried. */
const DOMAIN_WAIT_MS_MAX = 400
/** Mails a second to one domain, of all workers; FANTAIL_EMAIL_DOMAIN_RATE changes it. Past it: they wait. */
const DOMAIN_RATE_DEFAULT = 20

export interface MailAttempterOptions {
  mail: MailTools
  /** The id of a delivery, which is the same for all its attempts. */
  itemIdOf(subscriptionId: string, delivery: Buffer): string
  /** A clock that never goes back, in ms. Tests set their own. */
  now?: () => number
}

interface Settings extends MailSettings {
  smtpUrl: string
}

type Ended = { mailResult: MailResult; result: AttemptResult }

export class MailAttempter implements Attempter {
  readonly #settings: Settings
  readonly #options: MailAttempterOptions
  readonly #transport: SmtpTransport
  /** Aborted when the process stops, to end waiting attempts. */
  readonly #closing = new AbortController()
  readonly #underWay: UnderWay

  constructor(settings: Settings, options: MailAttempterOptions) {
    this.#settings = settings
    this.#options = options
    this.#underWay = new UnderWay(options.now ?? (() => performance.now()))
    this.#transport = createSmtpTransport(settings.smtpUrl, settings)
  }

  /** All mails share one login. */
  credentialOf(): string {
    return this.#transport.credential
  }

  /** Connections to the server are shared by all mails. */
  openAhead(): void {}

  attempt(attempt: Attempt, done: AttemptDone): void {
    const startedAt = performance.now()
    void this.#attempt(attempt).then(({ mailResult, result }) => {
      this.#options.mail.onResult?.(mailResult)
      done({ ...result, durationMs: performance.now() - startedAt })
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#transport.close()
  }

  async #attempt(attempt: Attempt): Promise<Ended> {
    if (!this.#underWay.begin()) return overLimit(`${this.#underWay.count} mails are under way`)
    const signal = attemptDeadline(this.#settings.attemptTimeoutMs, this.#closing.signal)
    try {
      return await untilAborted(signal, this.#admitAndSend(attempt, signal))
    } catch (error) {
      if (error instanceof DamagedDataError) return misconfigured(this.#transport.credential, error.message)
      return signal.aborted ? timedOut() : failedBy(error)
    } finally {
      this.#underWay.end()
    }
  }

  async #admitAndSend(attempt: Attempt, signal: AbortSignal): Promise<Ended> {
    const { mail } = this.#options
    const address = attempt.target.url
    if (await mail.isSuppressed(comparableAddress(address))) return suppressed()
    const domain = domainOfAddress(address)
    if (!(await this.#admitted(domain, signal))) return overLimit(`${domain} has its rate of mails`)
    return this.#send(attempt, signal)
  }

  /**
   * Waits a short time until the rate of the domain allows the mail. After a longer wait the endpoint would count as
   * hung.
   */
  async #admitted(domain: string, signal: AbortSignal): Promise<boolean> {
    const rate = this.#settings.emailDomainRate ?? DOMAIN_RATE_DEFAULT
    const until = performance.now() + DOMAIN_WAIT_MS_MAX
    for (;;) {
      const waitMs = await this.#options.mail.takeOfDomain(domain, rate)
      if (waitMs === 0) return true
      if (performance.now() + waitMs > until) return false
      await delay(waitMs, undefined, { signal })
    }
  }

  async #send({ envelope, target, delivery, onRequest }: Attempt, signal: AbortSignal): Promise<Ended> {
    const { mail, itemIdOf } = this.#options
    const message = renderMail({
      envelope,
      target,
      sender: senderOf(this.#settings),
      // Without a lane the message has only this delivery, so the message id is enough.
      deliveryId: delivery ? itemIdOf(target.subscriptionId, delivery) : envelope.message.messageId,
      linkKey: await mail.linkKey(),
      isJson: target.protocol === 'email-json',
    })
    onRequest?.(undefined)
    const outcome = await this.#transport.send(message, signal)
    if (!signal.aborted) this.#underWay.answered()
    if (outcome.end === 'replied' && outcome.badRecipient) {
      await mail.suppress(comparableAddress(target.url), outcome.text)
    }
    return endedBy(outcome, this.#transport.credential)
  }
}

function endedBy(outcome: SmtpOutcome, credential: string): Ended {
  const durationMs = 0
  if (outcome.end === 'misconfigured') return misconfigured(credential, outcome.detail)
  if (outcome.end === 'unreplied') {
    const { error, detail, permanent } = outcome
    const mailResult = permanent ? 'permanent' : 'transient'
    return { mailResult, result: { kind: 'failure', error, detail, durationMs, permanent } }
  }
  const { reply: statusCode, text, resultClass } = outcome
  const result = {
    kind: 'response' as const,
    statusCode,
    text,
    durationMs,
    ...(resultClass && { resultClass }),
  }
  return { mailResult: resultOf(statusCode, resultClass), result }
}

function misconfigured(credential: string, detail: string): Ended {
  return { mailResult: 'misconfigured', result: { kind: 'misconfigured', credential, detail, durationMs: 0 } }
}

function resultOf(reply: number, resultClass: 'retry' | undefined): MailResult {
  if (resultClass === 'retry') return 'transient'
  return reply < 300 ? 'delivered' : reply < 500 ? 'transient' : 'permanent'
}

type Failure = Extract<AttemptResult, { kind: 'failure' }>

function failure(error: Failure['error'], detail: string, permanent = false): Failure {
  return { kind: 'failure', error, detail, durationMs: 0, permanent }
}

function suppressed(): Ended {
  return { mailResult: 'suppressed', result: failure('recipient_suppressed', 'recipient suppressed', true) }
}

function overLimit(why: string): Ended {
  return { mailResult: 'throttled', result: failure('service_limit', why) }
}

function timedOut(): Ended {
  return { mailResult: 'transient', result: failure('timeout', 'the SMTP server did not answer in time') }
}

/** The result if Redis did not answer whether the address may get the mail. */
function failedBy(error: unknown): Ended {
  const detail = error instanceof Error ? error.message : String(error)
  return { mailResult: 'transient', result: failure('storage', detail) }
}
