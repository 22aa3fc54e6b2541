/**
 * Checks a run of a FIFO topic: every accepted message must arrive, in the order of its group.
 *
 * Each group has its own publisher, which sends one batch after the other. If it is unknown whether a batch was stored,
 * the publisher repeats it with the same deduplication ids until it gets an answer. Texts are `<group>-<number>`. A
 * webhook and a FIFO queue subscribe, raw.
 */
import { type Receiver, waitFor } from '@fantail/test-kit'
import type { Stack } from '../services/stack.ts'

const BATCH = 10
const AGAIN_MS = 50

interface FifoLedgerOptions {
  stack: Stack
  receiver: Receiver
  /** The topic's name without `.fifo`. The queue and the webhook's path have the same name. */
  name: string
  groups: number
  /** The least messages of each group. */
  messages: number
}

interface Publishing {
  /** The rate of publishing; default: as fast as possible. */
  perSecond?: number
  /** Each group gets more messages until this is true. */
  until?: () => boolean
}

interface FifoAccount {
  /** At the webhook: the number of messages that arrived and were answered 2xx, and of all such requests. */
  webhook: { firsts: number; arrivals: number }
  queue: number
  /** Messages that came before an earlier one of their group: `<where> <text>`. */
  disorder: string[]
}

export class FifoLedger {
  readonly #options: FifoLedgerOptions
  /** Number of repeated requests. */
  repeats = 0
  /** Number of accepted messages. Each counts once. */
  accepted = 0

  private constructor(options: FifoLedgerOptions) {
    this.#options = options
  }

  static async open(options: FifoLedgerOptions): Promise<FifoLedger> {
    const { name, receiver } = options
    const { client } = options.stack
    await client.put(`/v1/topics/${name}.fifo`)
    const { arn } = await client.put<{ arn: string }>(`/v1/queues/${name}.fifo`)
    for (const endpoint of [`${receiver.url}/${name}`, arn]) {
      const input = { endpoint, rawMessageDelivery: true, deliveryPolicy: RETRY_AT_ONCE }
      if (endpoint === arn)
        await client.post(`/v1/topics/${name}.fifo/subscriptions`, { ...input, deliveryPolicy: null })
      else await client.post(`/v1/topics/${name}.fifo/subscriptions`, input)
    }
    return new FifoLedger(options)
  }

  /** Resolves when all messages are accepted. */
  async publish({ perSecond, until = () => true }: Publishing = {}): Promise<void> {
    const { groups, messages } = this.#options
    const startedAt = performance.now()
    const publishGroup = async (group: number) => {
      for (let n = 0; n < messages || !until(); n += BATCH) {
        const dueAt = perSecond === undefined ? 0 : startedAt + ((n * groups) / perSecond) * 1_000
        await pause(dueAt - performance.now())
        await this.#publishBatch(group, n)
      }
    }
    await Promise.all(Array.from({ length: groups }, (_, group) => publishGroup(group)))
  }

  /** Resolves with the account once everything accepted has arrived at both subscribers. */
  async whenComplete(timeoutMs = 30_000): Promise<FifoAccount> {
    let account: FifoAccount | undefined
    // The texts of the queue are read only when there are enough.
    const isComplete = async () => {
      if (new Set(this.#arrivals()).size < this.accepted) return false
      if ((await this.#queueLength().catch(() => 0)) < this.accepted) return false
      account = await this.account().catch(() => undefined)
      return account?.webhook.firsts === this.accepted && account.queue === this.accepted
    }
    const wait = { what: `everything to arrive`, timeoutMs, intervalMs: 200 }
    await waitFor(isComplete, wait).catch(async (cause) => {
      account = await this.account().catch(() => account)
      throw new Error(`not complete: ${JSON.stringify(account)}`, { cause })
    })
    if (!account) throw new Error('no account')
    return account
  }

  async account(): Promise<FifoAccount> {
    const arrivals = this.#arrivals()
    const firsts = [...new Set(arrivals)]
    const queued = await this.#queued()
    return {
      webhook: { firsts: firsts.length, arrivals: arrivals.length },
      queue: queued.length,
      disorder: [...this.#disorder('webhook', firsts), ...this.#disorder('queue', queued)],
    }
  }

  /** Texts that the webhook answered 2xx, each as often as it came. */
  #arrivals(): string[] {
    const { receiver, name } = this.#options
    const isTaken = ({ answered }: { answered: number | null }) => answered !== null && answered < 300
    return receiver
      .requestsTo(`/${name}`)
      .filter(isTaken)
      .map(({ text }) => text)
  }

  #disorder(where: string, texts: string[]): string[] {
    const next = new Map<string, number>()
    return texts.flatMap((text) => {
      const [group = '', number] = text.split('-')
      const expected = next.get(group) ?? 0
      next.set(group, Number(number) + 1)
      return Number(number) === expected ? [] : [`${where} ${text} instead of ${expected}`]
    })
  }

  async #publishBatch(group: number, first: number): Promise<void> {
    const { name, stack } = this.#options
    const messages = Array.from({ length: BATCH }, (_, i) => ({
      message: `g${group}-${first + i}`,
      groupId: `g${group}`,
      deduplicationId: `g${group}-${first + i}`,
    }))
    for (let tries = 0; ; tries++) {
      if (tries > 0) this.repeats++
      const path = `/v1/topics/${name}.fifo/messages`
      const answer = await stack.client.call('POST', path, { body: { messages } }).catch(() => undefined)
      if (answer?.status === 202) {
        this.accepted += BATCH
        return
      }
      if (answer !== undefined && answer.status < 500)
        throw new Error(`refused: ${JSON.stringify(answer.body)}`)
      await pause(AGAIN_MS)
    }
  }

  async #queueLength(): Promise<number> {
    const { name, stack } = this.#options
    const { counts } = await stack.client.get<{ counts: { visible: number } }>(`/v1/queues/${name}.fifo`)
    return counts.visible
  }

  /** Texts in the queue, in the queue's order. */
  async #queued(): Promise<string[]> {
    const { name, stack } = this.#options
    const texts: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page: Page = await stack.client.get(`/v1/queues/${name}.fifo/messages?limit=100${query}`)
      texts.push(...page.messages.map(({ body }) => body))
      cursor = page.nextCursor
    }
    return texts
  }
}

interface Page {
  messages: { body: string }[]
  nextCursor: string | null
}

const RETRY_AT_ONCE = {
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 50, numNoDelayRetries: 50 },
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
}
