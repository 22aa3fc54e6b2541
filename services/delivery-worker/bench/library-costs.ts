/**
 * Compares libraries with a few lines of our own: nanoseconds for each operation, and their ratio. Rounds of the two
 * alternate in one process, so other load on the machine affects both. docs/design-decisions.md has the figures.
 */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import { Webhook } from 'standardwebhooks'

const ROUNDS = 101
const KEYS = 10_000

interface Compared {
  name: string
  operations: number
  own: () => unknown
  library: () => unknown
}

const keys = Array.from({ length: KEYS }, (_, i) => `arn:aws:sns:us-east-1:000000000000:topic-${i}`)
const shuffled = keys.toSorted(() => Math.random() - 0.5)

async function compare({ name, operations, own, library }: Compared): Promise<void> {
  const times = { own: [] as number[], library: [] as number[], ratios: [] as number[] }
  const timed = async (run: () => unknown) => {
    const startedAt = performance.now()
    await run()
    return ((performance.now() - startedAt) * 1e6) / operations
  }
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? own : library
    const [a, b] = [await timed(first), await timed(first === own ? library : own)]
    const [ownNs, libraryNs] = first === own ? [a, b] : [b, a]
    times.own.push(ownNs)
    times.library.push(libraryNs)
    times.ratios.push(libraryNs / ownNs)
  }
  const [ownNs, libraryNs, ratio] = [times.own, times.library, times.ratios].map(median)
  console.log(
    `${name}: own ${ownNs?.toFixed(0)} ns, library ${libraryNs?.toFixed(0)} ns, ${ratio?.toFixed(2)} ×`,
  )
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** Answers all questions of one turn of the event loop together. */
class Batcher {
  #waiting: { key: string; resolve(value: string): void }[] = []

  load(key: string): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.push({ key, resolve })
      if (this.#waiting.length === 1) setImmediate(() => void this.#flush())
    })
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    const values = await answer(waiting.map(({ key }) => key))
    waiting.forEach(({ resolve }, i) => {
      resolve(values[i] ?? '')
    })
  }
}

async function answer(asked: readonly string[]): Promise<string[]> {
  return [...asked]
}

function batching(): Compared {
  const asked = keys.slice(0, 100)
  const batcher = new Batcher()
  const loader = new DataLoader(answer, { cache: false, maxBatchSize: 500, batchScheduleFn: setImmediate })
  const ask = (load: (key: string) => Promise<string>) => Promise.all(asked.map(load))
  return {
    name: 'dataloader, 100 questions in a turn, each',
    operations: asked.length,
    own: () => ask((key) => batcher.load(key)),
    library: () => ask((key) => loader.load(key)),
  }
}

function caching(): Compared {
  const map = new Map(keys.map((key) => [key, { key }]))
  const cache = new LRUCache<string, { key: string }>({ max: KEYS })
  for (const key of keys) cache.set(key, { key })
  let found = 0
  return {
    name: 'lru-cache, get, against a Map',
    operations: KEYS,
    own: () => {
      for (const key of shuffled) if (map.get(key)) found++
      return found
    },
    library: () => {
      for (const key of shuffled) if (cache.get(key)) found++
      return found
    },
  }
}

function signing(): Compared {
  const secret = randomBytes(32)
  const key = createSecretKey(secret)
  const webhook = new Webhook(secret.toString('base64'))
  const body = Buffer.alloc(1_400, 'x')
  const now = new Date()
  const seconds = Math.floor(now.getTime() / 1_000)
  const times = (sign: () => string) => () => {
    let characters = 0
    for (let i = 0; i < 200; i++) characters += sign().length
    return characters
  }
  return {
    name: 'standardwebhooks, sign 1.4 KB',
    operations: 200,
    own: times(() => createHmac('sha256', key).update(`id.${seconds}.`).update(body).digest('base64')),
    library: times(() => webhook.sign('id', now, body.toString())),
  }
}

for (const compared of [batching(), caching(), signing()]) await compare(compared)
