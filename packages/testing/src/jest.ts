/** Adds the matchers to jest's `expect`. Import it in a test, or name it in `setupFilesAfterEnv`. */
import { fantailMatchers } from './matching/fantail-matchers.ts'
import type { FantailMatchers } from './matching/matcher-types.ts'

declare global {
  namespace jest {
    interface Matchers<R> extends FantailMatchers<R> {}
  }
}

/** jest sets `expect` in every test file. */
const { expect } = globalThis as { expect?: { extend(matchers: object): void } }
if (!expect) throw new Error('@fantail/testing/jest is for test files of jest, where `expect` is global')
expect.extend(fantailMatchers)
