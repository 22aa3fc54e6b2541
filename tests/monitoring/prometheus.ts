/** A Prometheus for a test, on a free loopback port, with its data in a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, waitFor } from '@fantail/test-kit'

/** Resolves with the command's output. Rejects if it ends with an error. */
export async function output(command: string, args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(command, args)
  return `${stdout}${stderr}`
}

export interface Prometheus {
  url: string
  stop(): Promise<void>
}

/** Runs the command with a configuration file of this text; resolves when it is ready. */
export async function startPrometheus(command: string, config: string): Promise<Prometheus> {
  const dir = await mkdtemp(join(tmpdir(), 'fantail-prometheus-'))
  const file = join(dir, 'prometheus.yml')
  await writeFile(file, config)
  const address = `127.0.0.1:${await freePort()}`
  const words = [
    `--config.file=${file}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${dir}/data`,
  ]
  const child = spawn(command, words, { stdio: 'ignore' })
  const url = `http://${address}`
  const stop = async () => {
    await end(child)
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const ready = () => {
      if (hasEnded(child)) throw new Error(`${command} ended with ${child.exitCode ?? child.signalCode}`)
      return isReady(url)
    }
    await waitFor(ready, { what: 'Prometheus to be ready', timeoutMs: 30_000 })
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/-/ready`)).ok
  } catch {
    return false // Not listening yet.
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

interface Sample {
  metric: Record<string, string>
  value: [number, string]
}

/** The samples of a query at the present time. Rejects with Prometheus's error. */
export async function ask(url: string, query: string): Promise<Sample[]> {
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query }) })
  const { status, data, error } = (await answer.json()) as {
    status: string
    data?: { result: Sample[] }
    error?: string
  }
  if (status !== 'success') throw new Error(`${query}: ${error}`)
  return data?.result ?? []
}
