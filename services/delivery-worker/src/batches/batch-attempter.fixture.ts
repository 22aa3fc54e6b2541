/** An attempter that takes several deliveries in one request. A test decides the result of each record. */
import type { AttemptResult } from '@fantail/contracts'
import type { Attempter, BatchLimits } from '@fantail/delivery'

interface BatchRequest {
  /** Texts of the messages. */
  texts: string[]
  sizeBytes: number
  /** By performance.now(). */
  at: number
}

export interface BatchAttempter extends Attempter {
  requests: BatchRequest[]
  inFlight: number
  inFlightMax: number
  limits: BatchLimits
  /** The result of one record, or of the whole request. `n` counts how often its text was sent, from 1. */
  answer: (text: string, n: number) => AttemptResult
  /** The requests are answered when this promise resolves. */
  released: Promise<unknown>
}

export const accepted: AttemptResult = { kind: 'response', statusCode: 200, durationMs: 1 }

export function createBatchAttempter(limits: Partial<BatchLimits> = {}): BatchAttempter {
  const sent = new Map<string, number>()
  const attempter: BatchAttempter = {
    requests: [],
    inFlight: 0,
    inFlightMax: 0,
    limits: { records: 50, bytes: 1_000_000, lingerMs: 20, ...limits },
    answer: () => accepted,
    released: Promise.resolve(),
    batching: {
      limitsOf: () => attempter.limits,
      render: ({ envelope }) => Buffer.from(`${envelope.message.message}\n`),
      attempt: ({ records }, done) => {
        const texts = records.map(({ bytes }) => bytes.toString().trim())
        const sizeBytes = records.reduce((sum, { bytes }) => sum + bytes.length, 0)
        attempter.requests.push({ texts, sizeBytes, at: performance.now() })
        attempter.inFlightMax = Math.max(attempter.inFlightMax, ++attempter.inFlight)
        for (const text of texts) sent.set(text, (sent.get(text) ?? 0) + 1)
        void attempter.released.then(() => {
          attempter.inFlight--
          done(texts.map((text) => attempter.answer(text, sent.get(text) ?? 0)))
        })
      },
    },
    openAhead: () => undefined,
    attempt: (_, done) => void setImmediate(done, accepted),
    close: async () => undefined,
  }
  return attempter
}
