/**
 * How many cases a property is tried with: few in `npm test`, its share of FANTAIL_FUZZ_CASES in the long form
 * (`npm run fuzz`); and the bound that a case which hangs fails by.
 */
const CASES = Number(process.env.FANTAIL_FUZZ_CASES ?? 0)
const HANG_MS = 15_000

export const FUZZ_TIMEOUT_MS = CASES > 0 ? 3_600_000 : 180_000

export function fuzzRuns(short: number, share: number): number {
  return Math.max(short, Math.ceil(CASES * share))
}

/** Rejects where nothing has come of the case after a while. */
export async function unlessHanging<T>(what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${what} hangs`)), HANG_MS)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
