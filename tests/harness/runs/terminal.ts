/** A terminal for commands that read keys. It uses tmux, with a tmux server for each test. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { waitFor } from '@fantail/test-kit'
import { launcher } from '../services/service-bundles.ts'
import { machineEnv } from './machine-env.ts'

const run = promisify(execFile)
const SHOWN_MS = 30_000
const SIZE = ['-x', '200', '-y', '60']

export interface Terminal {
  /** The text of the terminal, with lines that have scrolled away. */
  screen(): Promise<string>
  /** Waits until the terminal shows a match. Resolves with the whole screen. */
  shows(expected: RegExp): Promise<string>
  /** Presses keys, which have tmux's names: `r`, `C-c`. */
  press(...keys: string[]): Promise<void>
  close(): Promise<void>
}

/** Runs `fantail` with these words. The last line is its exit code. */
export async function openTerminal(words: string[], env: Record<string, string>): Promise<Terminal> {
  const socket = `fantail-test-${randomUUID()}`
  const tmux = async (...args: string[]) =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args])).stdout
  const settings = Object.entries({ ...machineEnv(), TERM: 'screen-256color', ...env }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const command = ['env', '-i', ...settings, process.execPath, launcher(), ...words]
  const line = `${command.map(quoted).join(' ')}; echo "exit code $?"; sleep 600`
  await tmux('new-session', '-d', ...SIZE, 'sh', '-c', line)
  const screen = () => tmux('capture-pane', '-p', '-J', '-S', '-')
  return {
    screen,
    shows: async (expected) => {
      let seen = ''
      const isShown = async () => {
        seen = await screen()
        return expected.test(seen)
      }
      await waitFor(isShown, { what: String(expected), timeoutMs: SHOWN_MS }).catch((cause: Error) => {
        throw new Error(`${cause.message}; the terminal shows\n${seen}`)
      })
      return seen
    },
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    close: async () => void (await tmux('kill-server')),
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
