/** Waits for times that depend on the length of a fault's test. */
import { waitFor } from '@fantail/test-kit'

export async function untilPassed(ms: number, since = performance.now()): Promise<void> {
  const passed = () => performance.now() - since
  // A timer may fire a millisecond early.
  await waitFor(() => passed() >= ms, { timeoutMs: ms + 30_000, intervalMs: Math.max(5, ms - passed() + 1) })
}
