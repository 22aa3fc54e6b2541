/**
 * Gives every test file real timers. Files share a process, so a test that fails while it has fake timers would
 * otherwise leave them to the files after it, which then hang.
 */
import { afterEach, vi } from 'vitest'

vi.useRealTimers()
afterEach(() => {
  vi.useRealTimers()
})
