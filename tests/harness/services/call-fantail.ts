/**
 * Runs commands of `fantail` in the process of the test. They must be commands that ask the API. A process for each of
 * them would take most of the CPU of its test. Each run must end as its row in `command-outputs.ts` says.
 */
import { Readable, Writable } from 'node:stream'
import { COMMANDS, commandLine } from '@fantail/command-line'
import { checkRun } from '../command-line/checked-runs.ts'
import { machineEnv } from '../runs/machine-env.ts'
import type { Ended, FantailOptions } from './run-fantail.ts'

type Caller = Parameters<typeof commandLine>[1]

export async function callFantail(
  words: string[],
  { env = {}, stdin = '' }: FantailOptions = {},
): Promise<Ended> {
  const named = COMMANDS.get(words[0] ?? '')
  if (named && 'process' in named) throw new Error(`fantail ${words[0]} needs a process of its own`)
  const [stdout, stderr] = [new Written(), new Written()]
  const given = {
    env: { ...machineEnv(), ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
  }
  const code = await commandLine(words, given as unknown as Caller)
  const ended = { code, stdout: stdout.text, stderr: stderr.text }
  checkRun(words, ended)
  return ended
}

class Written extends Writable {
  text = ''

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8')
    done()
  }
}
