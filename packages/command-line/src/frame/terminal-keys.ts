/** Reads single keys that a person presses at a terminal, without Enter. */
import type { CommandContext } from './command-context.ts'

const CTRL_C = '\u0003'

/** Whether a person reads the output and can press keys. */
export function hasKeys({ stdin, isTerminal, out }: CommandContext): boolean {
  return stdin.isTTY === true && isTerminal && !out.json && !out.quiet
}

/** Returns a function that stops the reading and restores the terminal. Without a terminal nothing is read. */
export function readKeys(context: CommandContext, onKey: (key: string) => void): () => void {
  if (!hasKeys(context)) return () => undefined
  const { stdin } = context
  const onData = (keys: Buffer) => {
    for (const key of keys.toString('utf8')) {
      // In raw mode the terminal sends no signal.
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT')
      else onKey(key)
    }
  }
  stdin.setRawMode(true).on('data', onData).resume()
  return () => {
    stdin.off('data', onData).setRawMode(false).pause()
  }
}
