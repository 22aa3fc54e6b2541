/** Reads single keys of a person at a terminal, without Enter. */
import type { CommandContext } from './command-context.ts'

const CTRL_C = '\u0003'

/** Whether a person reads the output and can press keys. */
export function hasKeys({ stdin, isTerminal, out }: CommandContext): boolean {
  return stdin.isTTY === true && isTerminal && !out.json && !out.quiet
}

/** Returns what gives the terminal back. Without a terminal nothing is read. */
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
