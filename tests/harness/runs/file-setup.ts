/**
 * Runs before every test file. Files share a process, so a test that fails while it has fake timers would leave them to
 * the following files, which would then hang.
 */
import { Agent, setGlobalDispatcher } from 'undici'
import { afterEach, vi } from 'vitest'

/** An API that stops waits a second for callers with idle connections. */
const IDLE_MS = 100

setGlobalDispatcher(new Agent({ keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS }))
vi.useRealTimers()
afterEach(() => {
  vi.useRealTimers()
})
