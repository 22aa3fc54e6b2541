/** Adds the matchers to vitest's `expect`. Import it in a test, or name it in `setupFiles`. */
import { expect } from 'vitest'
import { fantailMatchers } from './matching/fantail-matchers.ts'
import type { FantailMatchers } from './matching/matcher-types.ts'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown>
    extends FantailMatchers<R> {}
}

expect.extend(fantailMatchers)
