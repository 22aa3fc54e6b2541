/** Processes that tests start, with their log lines. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { waitFor } from '@fantail/test-kit'
import { afterEach } from 'vitest'
import type { LogLine } from './log-lines.fixture.ts'

/** Starts Node with these arguments. Processes that still run after a test are killed. */
export function useSpawned() {
  const running = new Set<{ kill(signal: 'SIGKILL'): boolean }>()
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL')
    running.clear()
  })
  return (args: string[], env: Record<string, string> = {}) => {
    const child = spawn(process.execPath, ['--conditions=@fantail/source', ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    running.add(child)
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    const lines = () =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LogLine)
    const find = (event: string) => lines().find(({ msg }) => msg === event)
    return {
      child,
      lines,
      events: () => lines().map(({ msg }) => msg),
      /** Resolves with the first line of this event. */
      async logged(event: string): Promise<LogLine> {
        await waitFor(() => find(event) !== undefined, { what: event })
        return find(event) as LogLine
      },
      ended: once(child, 'close').then(([code]) => code as number | null),
    }
  }
}
