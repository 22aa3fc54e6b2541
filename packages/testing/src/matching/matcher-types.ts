/** The matchers, as `expect(…)` shows them. */
import type { ExpectedRequest } from './fantail-matchers.ts'

export interface FantailMatchers<R = unknown> {
  /** A receiver or path has received such requests. */
  toHaveReceived(expected?: ExpectedRequest): R
  toHaveReceivedNothing(): R
  /** A request, or every request of a receiver or path, is signed by one of the keys. Await it. */
  toBeSignedBy(keys: string | readonly string[]): Promise<R>
}
