/** A master and one replica on loopback. Only the test fails over. */
import { Redis } from 'ioredis'
import { waitFor } from '../wait-for.ts'
import { startRedis, type TestRedis, type TestRedisOptions } from './redis-server.ts'
import { clientTls } from './redis-tls.ts'

export interface TestReplica {
  master: TestRedis
  /** Freezing it keeps it from confirming anything. */
  replica: TestRedis
  /** Kills the master and makes the replica one. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Resolves when the replica has everything. */
export async function startWithReplica(options: TestRedisOptions = {}): Promise<TestReplica> {
  const args = ['--repl-diskless-sync-delay', '0', ...(options.args ?? [])]
  const server = { ...options, spawned: true }
  const master = await startRedis({ ...server, args })
  const following = [...args, '--replicaof', '127.0.0.1', String(master.port)]
  const replica = await startRedis({ ...server, args: following })
  const asked = new Redis(replica.port, '127.0.0.1', { ...clientTls(options.tls) })
  asked.on('error', () => {
    // A frozen or killed replica: its test knows.
  })
  const stop = async () => {
    asked.disconnect()
    await replica.stop()
    await master.stop()
  }
  try {
    const isUp = async () => (await asked.info('replication')).includes('master_link_status:up')
    await waitFor(isUp, { what: 'the replica to be in step', intervalMs: 20 })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    master,
    replica,
    stop,
    failOver: async () => {
      await master.kill()
      await asked.replicaof('NO', 'ONE')
    },
  }
}
