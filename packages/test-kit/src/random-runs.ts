/** How often a test repeats itself with random input: seldom in `npm test`, often in the long form (`npm run fuzz`). */

const CASES = Number(process.env.FANTAIL_FUZZ_CASES ?? 0)

/** When a test with random input is given up. */
export const RANDOM_TIMEOUT_MS = CASES > 0 ? 3_600_000 : 180_000

/** `share`: of the cases of the long form. */
export function randomRuns(short: number, share: number): number {
  return Math.max(short, Math.ceil(CASES * share))
}
