/**
 * Gives every test file real timers. Files share a process, so a test that fails while it has fake timers would leave
 * them to the following files, which would then hang.
 */
import { afterEach, vi } from 'vitest'

vi.useRealTimers()
afterEach(() => {
  vi.useRealTimers()
})
