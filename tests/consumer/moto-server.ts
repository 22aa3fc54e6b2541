/**
 * A foreign implementation of SQS: moto's server, in a Python environment below `.fantail`. `npm run test:packages`
 * makes that environment; other runs use it if it is there.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort, waitFor } from '@fantail/test-kit'
import { pythonWith } from '../harness/aws/pythons.ts'

/**
 * A Python that has moto: the one that FANTAIL_MOTO_PYTHON names, or the one below `.fantail`. undefined: there is
 * none.
 */
export function motoPython(): string | undefined {
  const named = process.env.FANTAIL_MOTO_PYTHON
  if (named) return named
  return pythonWith({ name: 'moto', packages: ['moto[server]==5.2.5'], module: 'moto.server' })
}

export interface MotoServer {
  url: string
  stop(): Promise<void>
}

/** moto makes a key for each subscription, and with more than 128 of them another one for each message. */
const ONE_KEY = [
  'from functools import lru_cache',
  'from moto.sns.models import Subscription',
  'from moto.server import main',
  'make = Subscription.private_key.__wrapped__',
  'shared = lru_cache(lambda: make(None))',
  'Subscription.private_key = lambda self: shared()',
  'main()',
].join('\n')

/** With `hasOneKey` it signs all messages with the same key, because a new key costs 0.1 s. */
export async function startMoto(python: string, { hasOneKey = false } = {}): Promise<MotoServer> {
  const port = await freePort()
  const program = hasOneKey ? ['-c', ONE_KEY] : ['-m', 'moto.server']
  const words = [...program, '-H', '127.0.0.1', '-p', String(port)]
  const server = spawn(python, words, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitFor(isReady, { what: 'moto', timeoutMs: 30_000 })
  return { url, stop: () => stop(server) }
}

async function stop(server: ChildProcess): Promise<void> {
  const ended = once(server, 'exit')
  server.kill()
  await ended
}
