// @ts-check
/**
 * Redis on a free port, with its data in the data folder, so that the next start finds it again. It never uses another
 * Redis of this machine, unless a setting names it.
 *
 * `redis.url` exists while Redis answers. It is written whole once Redis answers, and removed when the stack ends. The
 * port stays the same over restarts, and services keep the address that they read.
 */
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { tryLock } from '../bootstrap/lock.mjs'
import { dataDir } from '../bootstrap/paths.mjs'
import { freePort, isFree } from '../bootstrap/ports.mjs'
import { StepError } from '../bootstrap/steps.mjs'
import { provideRedisServer } from '../bootstrap/tools/redis-binary.mjs'
import { answersPing, askRedis } from './ask-redis.mjs'
import { launchRedis } from './launch-redis.mjs'
import { supervise } from './supervise.mjs'

const POLL_MS = 50

/**
 * Throws a StepError if another stack uses the data folder.
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ ready: Promise<void>, stop: () => Promise<void> }} `ready`: Redis answers, and `redis.url` has its
 * address
 */
export function runRedis(env) {
  const dir = dataDir(env)
  const unlock = tryLock(join(dir, 'stack.lock'))
  if (!unlock) throw new StepError(`another local stack uses ${dir}; stop it, or set FANTAIL_DATA_DIR`)
  const urlFile = join(dir, 'redis.url')
  // Removes a file that a crash left behind, before a service can read it.
  rmSync(urlFile, { force: true })
  const launched = launch(dir, env)
  return {
    ready: launched.then(async ({ port, data, ownDir }) => {
      while (!((await hasDir(port, ownDir)) && (await answersPing(port)))) await delay(POLL_MS)
      writeWhole(urlFile, `redis://127.0.0.1:${port}\n`)
      console.log(`redis://127.0.0.1:${port} answers, data in ${data}`)
    }),
    stop: async () => {
      rmSync(urlFile, { force: true })
      await (await launched).redis.stop()
      unlock()
    },
  }
}

/** @param {string} dir @param {NodeJS.ProcessEnv} env */
async function launch(dir, env) {
  const server = await provideRedisServer(env)
  mkdirSync(join(dir, 'data'), { recursive: true })
  // The way Redis names it.
  const data = realpathSync(join(dir, 'data'))
  const port = await choosePort(dir, data)
  const redis = supervise({ name: 'redis', launch: () => launchRedis(server, { port, data }) })
  // Inside a container the folder has this name.
  return { redis, port, data, ownDir: server.kind === 'binary' ? data : '/data' }
}

/**
 * The same port as before, if it is free, so that an address that somebody noted stays valid.
 * @param {string} dir
 * @param {string} data
 */
async function choosePort(dir, data) {
  const file = join(dir, 'redis.port')
  const last = readPort(file)
  if (last !== undefined) await endLeftBehind(last, data)
  const port = last !== undefined && (await isFree(last, '127.0.0.1')) ? last : await freePort()
  writeWhole(file, `${port}\n`)
  return port
}

/**
 * Ends a Redis that outlived its stack. It must not write to the files of the new one.
 * @param {number} port
 * @param {string} data
 */
async function endLeftBehind(port, data) {
  while (await hasDir(port, data)) {
    await askRedis(port, 'SHUTDOWN')
    await delay(POLL_MS)
  }
}

/**
 * Whether the Redis at this port keeps its data in this folder. Another Redis may have the port by now.
 * @param {number} port
 * @param {string} data
 */
async function hasDir(port, data) {
  return (await askRedis(port, 'CONFIG GET dir'))?.includes(`\r\n${data}\r\n`) ?? false
}

/** @param {string} file */
function readPort(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined
    throw error
  }
}

/** @param {string} file @param {string} text */
function writeWhole(file, text) {
  const part = `${file}.${process.pid}`
  writeFileSync(part, text)
  renameSync(part, file)
}
