/** A master and one replica on loopback. A failover only happens if the test makes it. */
import { Redis } from 'ioredis'
import { waitFor } from '../waiting/wait-for.ts'
import { startRedis, type TestRedis, type TestRedisOptions } from './redis-server.ts'
import { clientTls } from './redis-tls.ts'

export interface TestReplica {
  master: TestRedis
  /** While the replica is frozen, it confirms no write. */
  replica: TestRedis
  /** Kills the master and makes the replica the master. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Resolves when the replica has all data. */
export async function startWithReplica(options: TestRedisOptions = {}): Promise<TestReplica> {
  const args = ['--repl-diskless-sync-delay', '0', ...(options.args ?? [])]
  const server = { ...options, spawned: true }
  const master = await startRedis({ ...server, args })
  const following = [...args, '--replicaof', '127.0.0.1', String(master.port)]
  const replica = await startRedis({ ...server, args: following })
  const asked = new Redis(replica.port, '127.0.0.1', { ...clientTls(options.tls) })
  asked.on('error', () => {
    // The test has frozen or killed a replica, so the error is expected.
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
