/** The matchers, as `expect(…)` shows them. */
import type { ExpectedRequest } from './fantail-matchers.ts'

export interface FantailMatchers<R = unknown> {
  /** Passes if the receiver or path has received such requests. */
  toHaveReceived(expected?: ExpectedRequest): R
  toHaveReceivedNothing(): R
  /**
   * Passes if the request, or every request of the receiver or path, is signed by one of the keys. It must be awaited.
   */
  toBeSignedBy(keys: string | readonly string[]): Promise<R>
}
