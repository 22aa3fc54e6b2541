/**
 * A foreign implementation of SQS: moto's server, in a Python environment below `.fantail`. `npm run test:packages`
 * makes that environment; other runs use it if it is there.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, waitFor } from '@fantail/test-kit'
import { ROOT } from '../repo/repository.ts'

const FOLDER = join(ROOT, '.fantail/moto')
const OWN_PYTHON = join(FOLDER, 'bin/python')
const MOTO = 'moto[server]==5.2.5'
const INSTALL_MS = 240_000

/**
 * A Python that has moto: the one that FANTAIL_MOTO_PYTHON names, or the one below `.fantail`. undefined: there is
 * none.
 */
export function motoPython(): string | undefined {
  const named = process.env.FANTAIL_MOTO_PYTHON
  if (named) return named
  if (existsSync(OWN_PYTHON) && hasMoto()) return OWN_PYTHON
  return process.env.FANTAIL_PACKAGES_LONG ? installed() : undefined
}

function hasMoto(): boolean {
  try {
    execFileSync(OWN_PYTHON, ['-c', 'import moto.server'], { stdio: 'ignore' })
    return true
  } catch {
    return false // It was not installed to the end.
  }
}

function installed(): string | undefined {
  try {
    execFileSync('python3', ['-m', 'venv', FOLDER], { stdio: 'ignore' })
    const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', MOTO]
    execFileSync(OWN_PYTHON, words, { stdio: 'inherit', timeout: INSTALL_MS })
    return OWN_PYTHON
  } catch (error) {
    console.warn(`moto cannot be had here, so nothing is tested on a foreign SQS: ${error}`)
    return undefined
  }
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
