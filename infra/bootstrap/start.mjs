// @ts-check
/**
 * The local stack. turbo runs the dev task of every package that has one. This process waits until they are ready,
 * prints the addresses, and waits until everything has stopped at the end.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import '../dev/output.mjs'
import { isLocked } from './lock.mjs'
import { dataDir, root } from './paths.mjs'
import { isFree } from './ports.mjs'
import { isStillThere, processOf } from './processes.mjs'
import { addresses, announceStack, checkPorts } from './stack.mjs'
import { createStackOutput } from './stack-output.mjs'
import { capture, StepError, say } from './steps.mjs'
import { provideRedisServer } from './tools/redis-binary.mjs'
import { namesRedis } from './tools/redis-settings.mjs'

const POLL_MS = 100
/** Longer than a service (18 s) and the process that supervises it take to stop. */
const GONE_MS = 25_000

/**
 * Resolves with the exit code once every service is gone.
 * @param {NodeJS.ProcessEnv} env
 */
export async function start(env) {
  await checkSettings(env)
  await checkPorts(env)
  const dir = dataDir(env)
  if (isLocked(join(dir, 'stack.lock'))) {
    throw new StepError(`another local stack uses ${dir}; stop it, or set FANTAIL_DATA_DIR`)
  }
  if (!namesRedis(env)) {
    const server = await provideRedisServer(env)
    say(
      server.kind === 'binary'
        ? `Redis ${server.version}: ${server.path}`
        : `Redis in Docker: ${server.image}`,
    )
  }
  // If one ops port were set for all services, only the first could use it.
  const { FANTAIL_OPS_PORT: _ops, ...rest } = env
  return runTurbo({ ...rest, FANTAIL_STACK_PID: String(process.pid) })
}

/**
 * Runs on the pinned Node, because the check loads the services' own TypeScript sources.
 * @param {NodeJS.ProcessEnv} env
 */
async function checkSettings(env) {
  const script = join(root, 'infra', 'dev', 'check-settings.mjs')
  const { code, stderr } = await capture('node', ['--conditions=@fantail/source', script], { env })
  if (code !== 0) throw new StepError(stderr.trim())
}

/** @param {NodeJS.ProcessEnv} env */
async function runTurbo(env) {
  say('starting')
  const output = createStackOutput((line) => console.log(line))
  if (env.FANTAIL_LOG_LEVEL?.trim() === 'debug') output.showAll()
  // turbo gets its own process group. Otherwise the terminal's Ctrl-C would reach it besides our signal, and at the
  // second one turbo kills its tasks.
  const turbo = spawn('turbo', ['run', 'dev'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  for (const stream of [turbo.stdout, turbo.stderr])
    createInterface({ input: stream }).on('line', output.line)
  const stopping = new AbortController()
  onStop(() => {
    say('stopping')
    output.stopping()
    stopping.abort()
    // The signal goes to the whole group, because turbo's own Node wrapper does not pass it on.
    const isRunning = turbo.exitCode === null && turbo.signalCode === null
    if (turbo.pid !== undefined && isRunning) process.kill(-turbo.pid, 'SIGINT')
  })
  const announced = announceStack(env, { signal: stopping.signal, onSlow: output.showAll })
  void announced.then((isReady) => isReady && output.ready())
  const code = await new Promise((resolve, reject) => {
    turbo.once('error', reject)
    // 'close' comes after all output was read.
    turbo.once('close', (exitCode) => resolve(exitCode ?? 1))
  })
  const asked = stopping.signal.aborted
  if (!asked) output.showAll()
  stopping.abort()
  await Promise.all([announced, allGone(env)])
  return asked ? 0 : code
}

/**
 * Calls `stop` once: at the first signal, or when npm, which started this, is gone.
 * @param {() => void} stop
 */
function onStop(stop) {
  let stopped = false
  const once = () => {
    if (stopped) return
    stopped = true
    stop()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, once)
  const above = startedBy()
  setInterval(() => {
    if (!above.every(isStillThere)) once()
  }, 1_000).unref()
}

/**
 * The processes that started this one: npm, and the shell in which npm runs scripts. Empty if it was started by hand.
 * It may then outlive its shell.
 */
function startedBy() {
  const shell = process.env.npm_lifecycle_event ? processOf(process.ppid) : undefined
  const npm = shell && processOf(shell.parent)
  return [shell, npm].filter((process) => process !== undefined)
}

/**
 * Waits until all ports are free, and Redis has stored its data and ended.
 * @param {NodeJS.ProcessEnv} env
 */
async function allGone(env) {
  const host = env.FANTAIL_HOST?.trim() || '127.0.0.1'
  const end = performance.now() + GONE_MS
  for (;;) {
    const free = await Promise.all(addresses(env).map(({ port }) => isFree(port, host)))
    if (free.every(Boolean) && !isLocked(join(dataDir(env), 'stack.lock'))) return
    if (performance.now() > end) {
      const taken = addresses(env).filter((_, index) => !free[index])
      console.error(
        `fantail: still there: ${taken.map(({ name, port }) => `${name} (port ${port})`).join(', ')}`,
      )
      return
    }
    await delay(POLL_MS)
  }
}
