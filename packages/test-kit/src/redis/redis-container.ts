/** A Redis in a container, with its data. The daemon kills and freezes it, so this works wherever the daemon runs. */
import { RedisContainer } from '@testcontainers/redis'
import { getContainerRuntimeClient, ImageName } from 'testcontainers'
import { waitFor } from '../waiting/wait-for.ts'
import type { RedisRuntime } from './redis-process.ts'

const REDIS_PORT = 6379
const LOG_LINES_SHOWN = 50

const imageName = () => process.env.FANTAIL_REDIS_IMAGE || 'redis:7.4-alpine'

let problem: Promise<string | undefined> | undefined

/** Why no container can be run. undefined: one can. Checked once per process. */
export function containerProblem(): Promise<string | undefined> {
  problem ??= findProblem()
  return problem
}

async function findProblem(): Promise<string | undefined> {
  try {
    const client = await getContainerRuntimeClient()
    await client.image.pull(ImageName.fromString(imageName()))
    return undefined
  } catch (error) {
    return `no Redis container: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Resolves when the server is started. It may not answer yet. */
export async function startContainer(port: number, words: string[]): Promise<RedisRuntime> {
  const place = ['--bind', '0.0.0.0', '--protected-mode', 'no', '--dir', '/data']
  const started = await new RedisContainer(imageName())
    .withExposedPorts({ container: REDIS_PORT, host: port })
    .withCommand(['redis-server', ...place, ...words])
    .start()
  const client = await getContainerRuntimeClient()
  const container = client.container.getById(started.getId())
  const state = async () => (await container.inspect()).State
  let pid = (await state()).Pid
  return {
    pid: () => pid,
    start: async () => {
      await container.start()
      pid = (await state()).Pid
    },
    kill: async () => {
      const { Running, Paused } = await state()
      if (!Running) return
      // The daemon cannot kill a frozen container.
      if (Paused) await container.unpause()
      await container.kill({ signal: 'SIGKILL' })
      await waitFor(async () => !(await state()).Running, { what: 'the container to end' })
    },
    freeze: () => container.pause(),
    thaw: () => container.unpause(),
    remove: () => container.remove({ v: true, force: true }),
    ended: async () => ((await state()).Running ? undefined : 'the container of redis-server ended'),
    logText: async () => String(await container.logs({ stdout: true, tail: LOG_LINES_SHOWN })),
    // The daemon owns the port, so no other server can answer there.
    isOwn: () => true,
  }
}
