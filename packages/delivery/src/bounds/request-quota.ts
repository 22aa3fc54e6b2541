/** Bounds how many requests are under way at a time, in all and for each provider. Further ones wait. */
interface QuotaLimits {
  inAll: number
  ofOne: number
}

interface Waiting {
  provider: string
  begin(): void
}

export class RequestQuota {
  readonly #limits: QuotaLimits
  #underWay = 0
  readonly #byProvider = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  /**
   * Resolves when the request may begin. The returned function must be called once when the request has ended, even if
   * it hangs for a long time. Resolves with undefined if it could not begin within `waitMs`.
   */
  async take(provider: string, waitMs: number): Promise<(() => void) | undefined> {
    if (this.#isFree(provider)) this.#add(provider, 1)
    else if (!(await this.#wait(provider, waitMs))) return undefined
    return () => {
      this.#add(provider, -1)
      this.#beginNext()
    }
  }

  /** Resolves with true if the request may begin. It is then counted already. */
  #wait(provider: string, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isFree: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        if (isFree) this.#add(provider, 1)
        resolve(isFree)
      }
      const timer = setTimeout(end, waitMs, false)
      const waiting = { provider, begin: () => end(true) }
      this.#waiting.add(waiting)
    })
  }

  /** Begins the request that has waited longest among those whose provider is free. */
  #beginNext(): void {
    const next = [...this.#waiting].find(({ provider }) => this.#isFree(provider))
    next?.begin()
  }

  #isFree(provider: string): boolean {
    const { inAll, ofOne } = this.#limits
    return this.#underWay < inAll && (this.#byProvider.get(provider) ?? 0) < ofOne
  }

  #add(provider: string, count: number): void {
    this.#underWay += count
    const left = (this.#byProvider.get(provider) ?? 0) + count
    if (left === 0) this.#byProvider.delete(provider)
    else this.#byProvider.set(provider, left)
  }
}
