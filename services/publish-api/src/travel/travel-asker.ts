/**
 * Asks all processes of the stack over pub/sub which work they have under way. Each process first adopts the current
 * time.
 */
import {
  type Redis,
  type TravelAnswer,
  type TravelQuestion,
  travelAnswers,
  travelQuestions,
} from '@fantail/store'

/** How long the API waits for the answers of all processes to one question. Past it: they count as busy. */
const ANSWERS_MS_MAX = 2_000

interface Asked {
  answers: TravelAnswer[]
  /** Unknown until Redis has said how many processes got the question. */
  expected: number
  done(): void
}

interface TravelAskerOptions {
  redis: Redis
  /** For messages. It is shared, and not closed here. */
  subscriber: Redis
  id: string
}

export interface Answers {
  answers: TravelAnswer[]
  /** How many processes got the question and did not answer in time. */
  missing: number
}

export class TravelAsker {
  readonly #options: TravelAskerOptions
  readonly #asked = new Map<number, Asked>()
  #number = 0
  #subscribed: Promise<unknown> | undefined

  constructor(options: TravelAskerOptions) {
    this.#options = options
    const { subscriber, id } = options
    subscriber.on('message', (channel: string, text: string) => {
      if (channel === travelAnswers(id)) this.#answered(JSON.parse(text) as TravelAnswer)
    })
    subscriber.on('ready', () => {
      this.#subscribed = undefined
    })
  }

  async ask(offsetMs: number): Promise<Answers> {
    const { redis, id } = this.#options
    await this.#subscribe()
    const ask = ++this.#number
    const { promise, resolve } = Promise.withResolvers<void>()
    const asked: Asked = { answers: [], expected: Number.POSITIVE_INFINITY, done: resolve }
    this.#asked.set(ask, asked)
    const timer = setTimeout(resolve, ANSWERS_MS_MAX)
    try {
      const question: TravelQuestion = { ask, offsetMs }
      asked.expected = await redis.publish(travelQuestions(id), JSON.stringify(question))
      if (asked.answers.length < asked.expected) await promise
      return { answers: asked.answers, missing: asked.expected - asked.answers.length }
    } finally {
      clearTimeout(timer)
      this.#asked.delete(ask)
    }
  }

  async #subscribe(): Promise<void> {
    const { subscriber, id } = this.#options
    this.#subscribed ??= subscriber.subscribe(travelAnswers(id))
    try {
      await this.#subscribed
    } catch (error) {
      this.#subscribed = undefined
      throw error
    }
  }

  #answered(answer: TravelAnswer): void {
    const asked = this.#asked.get(answer.ask)
    asked?.answers.push(answer)
    if (asked && asked.answers.length >= asked.expected) asked.done()
  }
}
