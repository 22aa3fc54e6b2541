/** Waits for times that depend on the length of a fault's test. */
import { waitFor } from '@fantail/test-kit'

export async function untilPassed(ms: number, since = performance.now()): Promise<void> {
  await waitFor(() => performance.now() - since >= ms, { timeoutMs: ms + 30_000, intervalMs: 5 })
}
