/**
 * The wait before a retry: a random part (full jitter) of a delay that doubles, as in the AWS SDKs
 * (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html).
 */
import type { FailureKind } from '../failures/answer-kind.ts'

const BASE_MS: Record<FailureKind, number> = { transient: 50, throttling: 1_000, final: 0 }
/** Delay of a client's retry before jitter. Past it: it stays at this value. */
const RETRY_DELAY_MS_MAX = 20_000

/** `retry`: 1 for the first one. `random`: from 0 to below 1. */
export function retryDelayMs(kind: FailureKind, retry: number, random: number): number {
  return random * Math.min(RETRY_DELAY_MS_MAX, BASE_MS[kind] * 2 ** (retry - 1))
}

/** The wait in ms that `Retry-After` asks for. The header has whole seconds or a date. undefined: it has neither. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
