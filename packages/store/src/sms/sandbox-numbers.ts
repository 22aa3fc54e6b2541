/**
 * Stores the numbers of SNS's SMS sandbox, so that set-up scripts work. They have no other effect: messages go to all
 * numbers.
 */
import { SANDBOX_NUMBERS_MAX } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { sandboxNumbersKey } from '../keys/keys.ts'
import { partsIfReadable } from '../redis/unreadable.ts'

type SandboxStatus = 'Pending' | 'Verified'

export class SandboxNumbers {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /** Adds a number. Returns false if the list is full. A number that the list already has stays unchanged. */
  async add(number: string): Promise<boolean> {
    await this.#growth.admit()
    const numbers = await this.list()
    if (numbers.some((one) => one.number === number)) return true
    if (numbers.length >= SANDBOX_NUMBERS_MAX) return false
    await this.#redis.hset(sandboxNumbersKey(), number, 'Pending' satisfies SandboxStatus)
    return true
  }

  /** Notes that the number is verified. Returns false if there is no such number. */
  async verify(number: string): Promise<boolean> {
    const key = sandboxNumbersKey()
    if ((await this.#redis.hexists(key, number)) === 0) return false
    await this.#redis.hset(key, number, 'Verified' satisfies SandboxStatus)
    return true
  }

  async remove(number: string): Promise<boolean> {
    return (await this.#redis.hdel(sandboxNumbersKey(), number)) === 1
  }

  /** All numbers, sorted. A number whose status cannot be read must be verified again. */
  async list(): Promise<{ number: string; status: SandboxStatus }[]> {
    const all = await partsIfReadable(async () =>
      Object.entries(await this.#redis.hgetall(sandboxNumbersKey())),
    )
    return all
      .map(([number, status]) => ({ number, status: statusOf(status) }))
      .toSorted((a, b) => (a.number < b.number ? -1 : 1))
  }
}

function statusOf(stored: string): SandboxStatus {
  return stored === 'Verified' ? stored : 'Pending'
}
