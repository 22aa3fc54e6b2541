/** Turns the single questions of one turn of the event loop into one question to Redis. */

interface Question<K, V> {
  key: K
  resolve(value: V): void
  reject(error: unknown): void
}

export class Batcher<K, V> {
  readonly #ask: (keys: K[]) => Promise<V[]>
  readonly #batchMax: number
  #questions: Question<K, V>[] = []

  constructor(ask: (keys: K[]) => Promise<V[]>, batchMax: number) {
    this.#ask = ask
    this.#batchMax = batchMax
  }

  get(key: K): Promise<V> {
    return new Promise((resolve, reject) => {
      this.#questions.push({ key, resolve, reject })
      if (this.#questions.length === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    const questions = this.#questions
    this.#questions = []
    for (let from = 0; from < questions.length; from += this.#batchMax) {
      void this.#answer(questions.slice(from, from + this.#batchMax))
    }
  }

  async #answer(questions: Question<K, V>[]): Promise<void> {
    try {
      const values = await this.#ask(questions.map((question) => question.key))
      questions.forEach((question, i) => {
        question.resolve(values[i] as V)
      })
    } catch (error) {
      for (const question of questions) question.reject(error)
    }
  }
}
