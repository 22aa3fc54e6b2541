/**
 * The pods of the rendered chart as processes: the Job makes a key, all Deployments are rolled under load, and the
 * chart's test passes. `infra/helm/check.mjs` renders the manifests and names their file.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connectPatiently, startRedis, type TestRedis } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { RestClient } from '../harness/services/rest-client.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { ROOT } from '../harness/services/service-process.ts'
import type { Stack } from '../harness/services/stack.ts'
import { startKubernetes, type TestKubernetes } from './kubernetes.fixture.ts'
import { type Container, environmentOf, imageIn, type Manifest, Pod, startService } from './pods.fixture.ts'

const FILE = process.env.FANTAIL_CHART_MANIFESTS
const RATE = 100
/**
 * A caller that sends on a connection while an API closes it gets this error (docs/scaling.md), and repeats the publish
 * with its `Idempotency-Key`. On a busy machine that happens now and then. An API must never answer with an error.
 */
const CLOSED = 'UND_ERR_SOCKET'
/** The launcher of the image is that of this checkout. */
const here = (word: string) => (word === '/opt/fantail/bin/fantail.mjs' ? launcher() : word)
const COMPONENTS = ['api', 'worker', 'redrive'] as const
type Component = (typeof COMPONENTS)[number]

describe.skipIf(FILE === undefined)('the rendered pods', () => {
  const receiver = useReceiver()
  const started: Pod[] = []
  const ready: Record<Component, Pod[]> = { api: [], worker: [], redrive: [] }
  let manifests: Manifest[]
  let redis: TestRedis
  let kubernetes: TestKubernetes
  let image: Record<string, string>
  let service: Awaited<ReturnType<typeof startService>>

  beforeAll(async () => {
    manifests = (JSON.parse(readFileSync(FILE ?? '', 'utf8')) as { trial: Manifest[] }).trial
    redis = await startRedis({ appendfsync: 'always' })
    kubernetes = await startKubernetes('some-fantail-keys')
    image = await imageIn(kubernetes.folder)
    service = await startService(() => ready.api)
  }, 60_000)

  afterAll(async () => {
    for (const pod of started) pod.kill()
    await service.stop()
    await kubernetes.stop()
    await redis.stop()
  })

  function manifest(kind: string, name: string): Manifest {
    const found = manifests.find((it) => it.kind === kind && it.metadata.name === `some-fantail-${name}`)
    if (!found) throw new Error(`the chart renders no ${kind} ${name}`)
    return found
  }

  /** A user's cluster would give these: the address of Redis, and endpoints that the test can watch. */
  const given = () => ({ REDIS_URL: redis.url, FANTAIL_ALLOW_PRIVATE_ENDPOINTS: 'true' })

  async function addPod(component: Component): Promise<void> {
    const { spec } = manifest('Deployment', component).spec.template
    const { pid } = process
    const address = `127.${1 + (pid % 200)}.${(pid >> 8) % 250}.${started.length + 1}`
    const pod = new Pod(spec, address, { ...image, ...given() })
    started.push(pod)
    await pod.whenReady()
    ready[component].push(pod)
  }

  /** Replaces each pod, a new one first: `maxSurge: 1, maxUnavailable: 0`. Returns the exit codes of the old ones. */
  async function roll(component: Component): Promise<(number | null)[]> {
    const codes = []
    for (const old of [...ready[component]]) {
      await addPod(component)
      ready[component] = ready[component].filter((pod) => pod !== old)
      codes.push(await old.end())
    }
    return codes
  }

  /** Runs a script of the chart as its container does. */
  async function runScript(container: Container, env: Record<string, string>): Promise<string> {
    const words = [...(container.command ?? []), ...(container.args ?? [])]
    const [program = '', script = '', ...args] = words
    const path = await kubernetes.script(script.replace('/scripts/', ''))
    const all = { ...image, ...environmentOf(container, kubernetes.secret), ...env, ...kubernetes.env }
    const child = spawn(program, [path, ...args.map(here)], {
      cwd: ROOT,
      env: all,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output = child.stdout.setEncoding('utf8').toArray()
    const [code] = (await once(child, 'close')) as [number]
    expect([script, code]).toEqual([script, 0])
    return (await output).join('')
  }

  test('the Job makes keys while the pods start', { timeout: 120_000 }, async () => {
    const job = manifest('Job', 'first-key').spec.template.spec.containers[0]
    const starts = COMPONENTS.flatMap((component) =>
      Array.from({ length: manifest('Deployment', component).spec.replicas }, () => addPod(component)),
    )
    await Promise.all([...starts, runScript(job, given())])
    expect(COMPONENTS.map((component) => ready[component].length)).toEqual([2, 2, 1])
    expect(kubernetes.secret.get('token')).toMatch(/^ft_/)
  })

  test('an upgrade under load loses nothing, and no pod is killed', { timeout: 300_000 }, async () => {
    const client = new RestClient(() => service.url, {
      authorization: `Bearer ${kubernetes.secret.get('token')}`,
    })
    const connection = connectPatiently(redis.url)
    const stack = {
      client,
      connection,
      get api() {
        return { pid: ready.api[0]?.process.pid ?? 0 }
      },
    } as unknown as Stack
    try {
      const subscriptions = {
        '/plain': {},
        '/throttled': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: RATE * 0.8 } } },
      }
      const ledger = await Ledger.open({
        stack,
        receiver: receiver(),
        topic: 'orders',
        subscriptions,
        again: true,
      })
      let isRolled = false
      const rolling = Promise.all(COMPONENTS.map(roll)).finally(() => {
        isRolled = true
      })
      await ledger.publishAtRate({ count: RATE, perSecond: RATE, until: () => isRolled })
      expect(await rolling).toEqual([[0, 0], [0, 0], [0]])
      const account = await ledger.whenSettled({ timeoutMs: 120_000 })
      expect(account).toMatchObject({ lost: 0, refused: 0, unknown: 0, deadLettered: 0, refusedYetSeen: 0 })
      const failures = ledger.ownFailures()
      expect(failures.filter(({ code }) => code !== CLOSED)).toEqual([])
      console.log(`rolled under load: ${JSON.stringify({ ...account, closed: failures.length })}`)
    } finally {
      await client.close()
      connection.disconnect()
    }
  })

  test('the test of the chart passes', { timeout: 60_000 }, async () => {
    const [container] = manifest('Pod', 'test').spec.containers
    const output = await runScript(container, { FANTAIL_URL: service.url })
    expect(output).toContain('a published message arrived')
  })
})
