/**
 * Runs the pods of rendered Deployments as processes, as kubelet and the controllers of Kubernetes do. Each pod has an
 * address of its own, and gets traffic while its readiness probe succeeds. It ends after its preStop by SIGTERM, and is
 * killed if it is still there at the end of its grace period.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@fantail/test-kit'
import { machineEnv } from '../harness/runs/machine-env.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { ROOT } from '../harness/services/service-process.ts'

interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { key: string } }
}

export interface Container {
  name: string
  command?: string[]
  args?: string[]
  env: Variable[]
  ports: { name: string; containerPort: number }[]
  readinessProbe: { httpGet: { path: string; port: string } }
  lifecycle?: { preStop: { sleep: { seconds: number } } }
}

interface PodSpec {
  terminationGracePeriodSeconds: number
  containers: [Container]
}

export interface Manifest {
  kind: string
  metadata: { name: string }
  spec: { replicas: number; template: { spec: PodSpec } } & PodSpec
}

const START = { timeoutMs: 120_000, intervalMs: 50 }
/** Variables of the image. Its folder of programs has `node`, and `fantail`, which is its entry point. */
export async function imageIn(folder: string): Promise<Record<string, string>> {
  const program = `#!/bin/sh\nexec node ${launcher()} "$@"\n`
  await writeFile(join(folder, 'fantail'), program, { mode: 0o755 })
  const env = machineEnv()
  return { ...env, PATH: [folder, dirname(process.execPath), env.PATH].join(':') }
}

/** The variables of a container. `secret` has the values of all Secrets, by key. */
export function environmentOf(
  { env }: Container,
  secret: ReadonlyMap<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      value ?? secret.get(valueFrom?.secretKeyRef.key ?? '') ?? '',
    ]),
  )
}

export class Pod {
  readonly address: string
  readonly port: number
  readonly process: ChildProcess
  readonly #spec: PodSpec
  #log = ''

  /** `env` wins over the container's own variables. */
  constructor(spec: PodSpec, address: string, env: Record<string, string>) {
    const [container] = spec.containers
    this.#spec = spec
    this.address = address
    this.port = container.ports[0]?.containerPort ?? 0
    const all = { ...environmentOf(container, new Map()), ...env, FANTAIL_HOST: address }
    this.process = spawn('fantail', container.args ?? [], {
      cwd: ROOT,
      env: all,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text
      })
    }
  }

  async whenReady(): Promise<void> {
    const { path } = this.#spec.containers[0].readinessProbe.httpGet
    const isReady = async () => {
      if (this.process.exitCode !== null) throw new Error(`a pod ended while starting\n${this.#log}`)
      const answer = await fetch(`http://${this.address}:${this.port}${path}`).catch(() => undefined)
      await answer?.arrayBuffer()
      return answer?.ok
    }
    await waitFor(isReady, { what: `the pod at ${this.address}`, ...START })
  }

  /** Resolves with the exit code; null: the pod was killed. */
  async end(): Promise<number | null> {
    const { terminationGracePeriodSeconds: grace, containers } = this.#spec
    const preStop = containers[0].lifecycle?.preStop.sleep.seconds ?? 0
    const killing = setTimeout(() => this.process.kill('SIGKILL'), grace * 1_000)
    await delay(preStop * 1_000)
    const ended = once(this.process, 'exit')
    this.process.kill('SIGTERM')
    const [code] = (await ended) as [number | null]
    clearTimeout(killing)
    if (code !== 0) console.error(this.#log.slice(-5_000))
    return code
  }

  kill(): void {
    this.process.kill('SIGKILL')
  }
}

/** A Service: each new connection goes to one of the ready pods, and stays there. */
export async function startService(ready: () => Pod[]) {
  const open = new Set<Socket>()
  let next = 0
  const server = createServer((incoming) => {
    const pods = ready()
    const pod = pods[next++ % pods.length]
    if (!pod) return void incoming.destroy()
    const outgoing = connect(pod.port, pod.address)
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket)
      socket.pipe(other)
      socket
        .on('error', () => other.destroy())
        .on('close', () => {
          open.delete(socket)
          other.destroy()
        })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
