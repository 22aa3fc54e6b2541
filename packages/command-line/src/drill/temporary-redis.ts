/**
 * A Redis that reads a backup and is thrown away: a process on a Unix socket in a temporary folder, which no network
 * reaches. It never writes to the backup.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, realpath, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Redis, whenReady } from '@fantail/store'
import { EXIT_CODES } from '../output/exit-codes.ts'

const LOADED_LOOK_MS = 50
/** Lines of Redis's own log that an error shows. */
const LINES_SHOWN = 3

/** Runs `use` with the restored data, and removes everything afterwards. Rejects if Redis cannot read the backup. */
export async function withRestored<T>(backup: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-drill-'))
  let server: ChildProcess | undefined
  const interrupt = () => {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
    process.exit(EXIT_CODES.interrupted)
  }
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const isFolder = (await stat(backup)).isDirectory()
    if (isFolder) await cp(backup, folder, { recursive: true })
    // A snapshot can be large, and Redis only reads it.
    else await symlink(await realpath(backup), join(folder, 'dump.rdb'))
    server = spawn('redis-server', wordsFor(folder, isFolder), { stdio: ['ignore', 'pipe', 'pipe'] })
    const redis = await whenLoaded(server, join(folder, 'socket'))
    try {
      await whenReady(redis)
      return await use(redis)
    } finally {
      redis.disconnect()
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    // A backup may also have crashed it.
    if (server?.pid !== undefined && server.exitCode === null && server.signalCode === null) {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * A truncated file must fail here, although a real start accepts it (`aof-load-truncated`). If memory is short, the
 * kernel ends this Redis first (`oom-score-adj`), because a drill often runs beside the Redis that has the real data.
 */
function wordsFor(folder: string, isFolder: boolean): string[] {
  const settings = {
    port: '0',
    unixsocket: join(folder, 'socket'),
    unixsocketperm: '600',
    dir: folder,
    save: '',
    appendonly: isFolder ? 'yes' : 'no',
    'aof-load-truncated': 'no',
    maxmemory: '0',
    'oom-score-adj': 'absolute',
    'oom-score-adj-values': ['1000', '1000', '1000'],
  }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value].flat())
}

async function whenLoaded(server: ChildProcess, socket: string): Promise<Redis> {
  let said = ''
  let failure: Error | undefined
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  server.once('error', (error: NodeJS.ErrnoException) => {
    failure = error.code === 'ENOENT' ? new Error('redis-server is not on PATH: install Redis here') : error
  })
  server.once('exit', () => {
    failure ??= new Error(`Redis cannot read it: ${lastWords(said)}`)
  })
  while (!/Ready to accept connections|ready to accept connections/.test(said)) {
    if (failure) throw failure
    await delay(LOADED_LOOK_MS)
  }
  return connect({ url: `unix://${socket}`, name: 'fantail-drill', commandTimeoutMs: null })
}

/** Warnings and errors, without times and process ids. */
function lastWords(said: string): string {
  const lines = said.split('\n').filter((line) => / # /.test(line) || /error|bad|wrong/i.test(line))
  const words = lines.map((line) => line.replace(/^.*? [#*] /, '').trim())
  return words.slice(-LINES_SHOWN).join('; ') || said.trim().split('\n').at(-1) || 'it ended without a word'
}
