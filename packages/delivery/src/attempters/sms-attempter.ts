/**
 * Makes attempts at phone numbers. An attempt is one request to the SMS provider. Its result depends on what happens:
 *
 *   country not allowed, text too long, above MaxPrice, opted out, spend used up → permanent, nothing is sent
 *   too many under way → `service_limit`: nothing was sent, no attempt is counted, and the delivery waits
 *   Redis or the connection fails → retry, nothing was sent
 *   the amount that was spent, or another key in Redis, is damaged → `misconfigured`, nothing was sent
 *   no answer after the request was written → permanent as `outcome_unknown`, because another could send it twice
 *   otherwise → by the provider's answer (sms/sms-provider.ts)
 */
import type { AttemptResult } from '@fantail/contracts'
import { type SmsCountry, smsCountryOf } from '@fantail/policy'
import { attemptDeadline, untilAborted } from '../bounds/attempt-deadline.ts'
import { UnderWay } from '../bounds/under-way.ts'
import type { Envelope } from '../envelope/envelope.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import {
  maxPriceUsd,
  type SmsMessage,
  senderIdOf,
  smsCostUsd,
  smsParts,
  smsText,
  smsTextProblem,
  smsTypeOf,
} from '../sms/sms-message.ts'
import type { SmsJudgement, SmsProvider } from '../sms/sms-provider.ts'
import type { SmsReservation, SmsResult, SmsSettings, SmsTools } from '../sms/sms-settings.ts'
import { type Attempt, type AttemptDone, type Attempter, DamagedDataError } from './attempter.ts'

/** Answer of an SMS provider that is read. Past it: the body is ignored, and only the status counts. */
const SMS_ANSWER_BYTES_MAX = 16_384
const PRICE_USD_DEFAULT = 0.1
const SPEND_USD_DEFAULT = 1

export interface SmsAttempterOptions {
  sender: Pick<HttpSender, 'send'>
  sms: SmsTools
  /** The id of a delivery, which is the same for all its attempts. */
  itemIdOf(subscriptionId: string, delivery: Buffer): string
}

type Failure = Extract<AttemptResult, { kind: 'failure' }>
type Ended = { smsResult: SmsResult; result: AttemptResult }

export class SmsAttempter implements Attempter {
  readonly #provider: SmsProvider
  readonly #settings: SmsSettings
  readonly #options: SmsAttempterOptions
  readonly #underWay = new UnderWay(() => performance.now())

  constructor(provider: SmsProvider, settings: SmsSettings, options: SmsAttempterOptions) {
    this.#provider = provider
    this.#settings = settings
    this.#options = options
  }

  refusalOf(number: string): string | undefined {
    if (this.#countryOf(number)) return undefined
    return 'must be a number of a country that FANTAIL_SMS_COUNTRIES names'
  }

  credentialOf(): string {
    return this.#provider.credential
  }

  /** Every message gets a connection of its own. */
  openAhead(): void {}

  attempt(attempt: Attempt, done: AttemptDone): void {
    const startedAt = performance.now()
    void this.#attempt(attempt).then(({ smsResult, result }) => {
      this.#options.sms.onResult?.(smsResult)
      done({ ...result, durationMs: performance.now() - startedAt })
    })
  }

  /** The sender is shared, and its creator closes it. */
  async close(): Promise<void> {}

  async #attempt(attempt: Attempt): Promise<Ended> {
    if (!this.#underWay.begin()) {
      const detail = `${this.#underWay.count} messages are under way`
      return { smsResult: 'transient', result: failure('service_limit', detail) }
    }
    try {
      return await this.#admitAndSend(attempt)
    } catch (error) {
      if (error instanceof DamagedDataError) return misconfigured(this.#provider.credential, error.message)
      return { smsResult: 'transient', result: failure('storage', reasonOf(error)) }
    } finally {
      this.#underWay.end()
    }
  }

  async #admitAndSend(attempt: Attempt): Promise<Ended> {
    const { envelope, target } = attempt
    const text = smsText(envelope, target)
    const country = this.#countryOf(target.url)
    const priceUsd = country ? smsCostUsd(text, country, this.#settings.smsPriceUsd ?? PRICE_USD_DEFAULT) : 0
    const problem = country ? textRefusal(envelope, text, priceUsd) : COUNTRY_REFUSED
    const described = { envelope, text, priceUsd }
    if (problem) return reported(problem, { ...described, ...(await this.#options.sms.defaults()) })
    const signal = attemptDeadline(this.#settings.attemptTimeoutMs)
    const reservation = await this.#reserve(target.url, priceUsd, signal)
    const ended = await this.#sendReserved(attempt, text, reservation, signal)
    return reported(ended, { ...described, ...reservation })
  }

  async #sendReserved(
    attempt: Attempt,
    text: string,
    reservation: SmsReservation,
    signal: AbortSignal,
  ): Promise<Ended> {
    if (reservation.outcome === 'optedOut') return refused('opted_out', 'Phone number is opted out')
    if (reservation.outcome === 'spent') return refused('spend_exceeded', 'No quota left for account')
    const message = this.#messageOf(attempt, text, reservation)
    const ended = await this.#send(attempt, message, signal)
    if (ended.smsResult !== 'delivered' && ended.smsResult !== 'unknown') await this.#refund(reservation)
    return ended
  }

  #countryOf(number: string): SmsCountry | undefined {
    return smsCountryOf(number, this.#settings.smsCountries ?? [])
  }

  #refund({ spend }: SmsReservation): Promise<void> {
    return this.#options.sms.refund(spend)
  }

  /** Reserves the cost of a message. If Redis answers only after the attempt's deadline, the cost is given back. */
  async #reserve(number: string, costUsd: number, signal: AbortSignal): Promise<SmsReservation> {
    const { smsMonthUsd: monthUsdMax = SPEND_USD_DEFAULT, smsDayUsd: dayUsdMax = monthUsdMax } =
      this.#settings
    const reserving = this.#options.sms.reserve({ number, costUsd, dayUsdMax, monthUsdMax })
    try {
      return await untilAborted(signal, reserving)
    } catch (error) {
      const refund = (late: SmsReservation) => (late.outcome === 'reserved' ? this.#refund(late) : undefined)
      if (signal.aborted) reserving.then(refund, () => undefined)
      throw error
    }
  }

  #messageOf({ envelope, target, delivery }: Attempt, text: string, usual: SmsReservation): SmsMessage {
    const { itemIdOf } = this.#options
    return {
      number: target.url,
      text,
      sender: senderIdOf(envelope) ?? (usual.senderId || (this.#settings.smsSender ?? '')),
      type: smsTypeOf(envelope, usual.smsType),
      // Without a lane the message has only this delivery, so the message id is enough.
      id: delivery ? itemIdOf(target.subscriptionId, delivery) : envelope.message.messageId,
    }
  }

  async #send({ onRequest }: Attempt, message: SmsMessage, signal: AbortSignal): Promise<Ended> {
    let written = false
    const result = await new Promise<AttemptResult>((resolve) => {
      const request = {
        ...this.#provider.requestOf(message),
        route: TRUSTED_ROUTE,
        isSentOnce: true as const,
        responseBytesMax: SMS_ANSWER_BYTES_MAX,
        signal,
        onRequest: (cause: Parameters<NonNullable<Attempt['onRequest']>>[0]) => {
          written = true
          onRequest?.(cause)
        },
      }
      this.#options.sender.send(request, resolve)
    })
    if (result.kind !== 'response') return this.#unanswered(result, written)
    this.#underWay.answered()
    const { body, headers: _, ...plain } = result
    const judgement = this.#provider.judge({ statusCode: plain.statusCode, body })
    if (judgement.meaning === 'optedOut') await this.#options.sms.noteOptOut(message.number)
    return endOf(plain, judgement, this.#provider.credential)
  }

  /**
   * A wrong certificate or a refused address prevents every message. The operator must correct it, so it is not a
   * failure of this message.
   */
  #unanswered(result: Exclude<AttemptResult, { kind: 'response' }>, written: boolean): Ended {
    if (result.kind === 'misconfigured') return { smsResult: 'misconfigured', result }
    const { detail } = result
    if (written) return unknown(`the provider got the message and did not answer: ${detail}`)
    if (!result.permanent && result.error !== 'tls') return { smsResult: 'transient', result }
    return misconfigured(this.#provider.credential, detail)
  }
}

const COUNTRY_REFUSED = refused('number_refused', 'FANTAIL_SMS_COUNTRIES does not name its country')

function textRefusal(envelope: Envelope, text: string, priceUsd: number): Ended | undefined {
  const problem = smsTextProblem(text)
  if (problem !== undefined) return refused('text_refused', problem)
  if (priceUsd <= (maxPriceUsd(envelope) ?? Number.POSITIVE_INFINITY)) return undefined
  return refused('spend_exceeded', 'This delivery would exceed max price')
}

function misconfigured(credential: string, detail: string): Ended {
  return { smsResult: 'misconfigured', result: { kind: 'misconfigured', credential, detail, durationMs: 0 } }
}

interface Described extends Pick<SmsReservation, 'smsType' | 'statusLog'> {
  envelope: Envelope
  text: string
  priceUsd: number
}

/** Adds the facts that a delivery status log shows, if attributes ask for such logs. */
function reported(
  { smsResult, result }: Ended,
  { envelope, text, priceUsd, smsType, statusLog }: Described,
): Ended {
  if (!statusLog || result.kind === 'misconfigured') return { smsResult, result }
  const textMessage = { statusLog, parts: smsParts(text), priceUsd, type: smsTypeOf(envelope, smsType) }
  return { smsResult, result: { ...result, textMessage } }
}

function endOf(
  { statusCode, retryAfterSeconds }: Extract<AttemptResult, { kind: 'response' }>,
  { meaning, detail }: SmsJudgement,
  credential: string,
): Ended {
  const durationMs = 0
  if (meaning === 'unknown') return unknown(detail)
  if (meaning === 'misconfigured') return misconfigured(credential, detail)
  if (meaning === 'optedOut') return refused('opted_out', 'Phone number is opted out')
  const waits = retryAfterSeconds !== undefined && { retryAfterSeconds }
  const result = {
    kind: 'response' as const,
    statusCode,
    text: detail,
    resultClass: meaning,
    durationMs,
    ...waits,
  }
  return { smsResult: meaning === 'retry' ? 'transient' : meaning, result }
}

function failure(error: Failure['error'], detail: string, permanent = false): Failure {
  return { kind: 'failure', error, detail, durationMs: 0, permanent }
}

function refused(error: Failure['error'], detail: string): Ended {
  return { smsResult: 'refused', result: failure(error, detail, true) }
}

function unknown(detail: string): Ended {
  return { smsResult: 'unknown', result: failure('outcome_unknown', detail, true) }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
