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

export async function startMoto(python: string): Promise<MotoServer> {
  const port = await freePort()
  const words = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)]
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
