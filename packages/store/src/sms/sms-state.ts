/**
 * Data about text messages that all processes share: attributes, opted-out numbers, and the money spent. These data
 * belong to the whole server and not to an account, because all messages go out through one provider.
 */
import { MICROS_PER_USD, OPTED_OUT_NUMBERS_MAX, type StatusLog } from '@fantail/contracts'
import { smsStatusLogOf } from '@fantail/policy'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { optedOutKey, SMS_BASE, smsAttributesKey, smsSpentKey } from '../keys/keys.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { decodeCursor, encodeCursor, type Page } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { partsIfReadable } from '../redis/unreadable.ts'

const RESERVE = readScript('reserve-spend-1')
const REFUND = readScript('refund-spend-1')
const OPT_OUT = readScript('opt-out-number-1')
const SAMPLING_RATE = 'DeliveryStatusSuccessSamplingRate'

interface SpendAsked {
  number: string
  costUsd: number
  dayUsdMax: number
  monthUsdMax: number
}

/** The cost of a message, and the day and month in which the cost is counted. */
interface Spend {
  day: string
  month: string
  costMicros: number
}

interface SpendAnswer {
  outcome: 'reserved' | 'optedOut' | 'spent'
  spend: Spend
  /** The attribute DefaultSenderID; empty if it is not set. */
  senderId: string
  /** The attribute DefaultSMSType; empty if it is not set. */
  smsType: string
  /** Which messages have a delivery status log. Undefined: none. */
  statusLog: StatusLog | undefined
}

interface SmsStateOptions {
  /** Epoch ms. */
  clock: () => number
  /** Called if a refund or an opt-out could not be stored. */
  onProblem(error: unknown): void
  growth?: GrowthGuard
}

export class SmsState {
  readonly #redis: Redis
  readonly #clock: () => number
  readonly #onProblem: SmsStateOptions['onProblem']
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { clock, onProblem, growth = UNGUARDED }: SmsStateOptions) {
    this.#redis = redis
    this.#clock = clock
    this.#onProblem = onProblem
    this.#growth = growth
  }

  /**
   * Reserves the cost of a message, unless a limit of the day or month would be exceeded. All processes together keep
   * the limits. The attribute MonthlySpendLimit can lower the limit of the month. Throws an UnreadableRecordError if
   * that attribute or the amount of the month was damaged. A damaged amount of a day becomes that of the month.
   */
  async reserve({ number, costUsd, dayUsdMax, monthUsdMax }: SpendAsked): Promise<SpendAnswer> {
    const spend = { ...this.#periods(), costMicros: Math.ceil(costUsd * MICROS_PER_USD) }
    const reply = await runScript(this.#redis, RESERVE, {
      base: SMS_BASE,
      number,
      day: spend.day,
      month: spend.month,
      cost: spend.costMicros,
      dayMax: Math.round(dayUsdMax * MICROS_PER_USD),
      monthMax: Math.round(monthUsdMax * MICROS_PER_USD),
    })
    const [outcome, senderId = '', smsType = '', role = '', rate = ''] = (reply as unknown[]).map(String)
    if (outcome === 'damaged') throw new UnreadableRecordError(senderId, new TypeError('it holds no amount'))
    const statusLog = smsStatusLogOf({ DeliveryStatusIAMRole: role, ...(rate && { [SAMPLING_RATE]: rate }) })
    return { outcome: outcome as SpendAnswer['outcome'], spend, senderId, smsType, statusLog }
  }

  /** The attributes for a message that is refused before anything is reserved. */
  async defaults(): Promise<Pick<SpendAnswer, 'smsType' | 'statusLog'>> {
    const attributes = await this.attributes()
    return { smsType: attributes.DefaultSMSType ?? '', statusLog: smsStatusLogOf(attributes) }
  }

  /**
   * Gives back the cost of a message that was certainly not sent. If that fails, too much money counts as spent, so the
   * failure is reported.
   */
  async refund({ day, month, costMicros }: Spend): Promise<void> {
    try {
      await runScript(this.#redis, REFUND, { base: SMS_BASE, day, month, cost: costMicros })
    } catch (error) {
      this.#onProblem(error)
    }
  }

  /**
   * Adds the number to the opt-out list. If this fails, the failure is only reported, because the delivery has ended in
   * any case.
   */
  async noteOptOut(number: string): Promise<void> {
    try {
      if ((await this.optOut(number)) === 'full') this.#onProblem(new Error('the opt-out list is full'))
    } catch (error) {
      this.#onProblem(error)
    }
  }

  async spentUsd(): Promise<{ today: number; thisMonth: number }> {
    const { day, month } = this.#periods()
    const [today, thisMonth] = await this.#redis.mget(smsSpentKey(day), smsSpentKey(month))
    return { today: Number(today ?? 0) / MICROS_PER_USD, thisMonth: Number(thisMonth ?? 0) / MICROS_PER_USD }
  }

  /** Adds the number to the opt-out list. `full`: the list has no space. */
  async optOut(number: string): Promise<'added' | 'present' | 'full'> {
    await this.#growth.admit()
    const args = { base: SMS_BASE, number, numbersMax: OPTED_OUT_NUMBERS_MAX }
    const outcome = await runScript(this.#redis, OPT_OUT, args)
    return outcome === 1 ? 'added' : outcome === 0 ? 'present' : 'full'
  }

  /** Returns false if the list did not have the number. */
  async optIn(number: string): Promise<boolean> {
    return (await this.#redis.zrem(optedOutKey(), number)) === 1
  }

  async isOptedOut(number: string): Promise<boolean> {
    return (await this.#redis.zscore(optedOutKey(), number)) !== null
  }

  /** Opted-out numbers, sorted. */
  async optedOut({ cursor, limit }: { cursor?: string | undefined; limit: number }): Promise<Page<string>> {
    const after = cursor === undefined ? '-' : `(${decodeCursor(cursor, 1)[0]}`
    const items = await partsIfReadable(() =>
      this.#redis.zrangebylex(optedOutKey(), after, '+', 'LIMIT', 0, limit),
    )
    return { items, nextCursor: items.length < limit ? null : encodeCursor([items.at(-1) ?? '']) }
  }

  /** The attributes that were set. */
  attributes(): Promise<Record<string, string>> {
    return this.#redis.hgetall(smsAttributesKey())
  }

  async setAttributes(attributes: Record<string, string>): Promise<void> {
    await this.#growth.admit()
    await this.#redis.hset(smsAttributesKey(), attributes)
  }

  #periods(): { day: string; month: string } {
    const day = new Date(this.#clock()).toISOString().slice(0, 10)
    return { day, month: day.slice(0, 7) }
  }
}
