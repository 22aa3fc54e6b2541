// @ts-check
/**
 * The local stack as one dev task. This process alone starts, supervises and stops Redis and every service. It stops
 * the services first. It starts a killed service again, which neither turbo nor `node --watch` does.
 *
 *  node dev-stack.mjs ../services/publish-api ../services/redrive
 */
import { basename, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { announceStack } from '../bootstrap/stack.mjs'
import { StepError } from '../bootstrap/steps.mjs'
import { namesRedis } from '../bootstrap/tools/redis-settings.mjs'
import './output.mjs'
import { runDevService } from './dev-service.mjs'
import { runRedis } from './redis.mjs'
import { whenStackEnds } from './stack-end.mjs'
import { watchSources } from './watch-sources.mjs'

/**
 * turbo kills its tasks 10 s after Ctrl-C. If a service takes longer to stop, it loses Redis and can cope with that.
 */
const SERVICES_STOP_MS = 8_000

const folders = process.argv.slice(2).map((folder) => resolve(folder))

/** @type {{ stop: () => Promise<void> }[]} */
const services = []
/** @type {ReturnType<typeof runRedis> | undefined} */
let redis

// This comes first, because until then a signal would end this process and leave its children to the guard.
whenStackEnds(async () => {
  const stopped = Promise.all(services.map((service) => service.stop()))
  await Promise.race([stopped, delay(SERVICES_STOP_MS)])
  await redis?.stop()
  await stopped
  process.exit(0)
})

try {
  if (namesRedis(process.env)) console.log('using the Redis of the settings, starting none')
  else redis = runRedis(process.env)
  startServices()
  await redis?.ready
  // `npm start` prints the addresses itself, without turbo's prefix.
  if (process.env.FANTAIL_STACK_PID === undefined) await announceStack(process.env)
} catch (error) {
  if (!(error instanceof StepError)) throw error
  console.error(error.message)
  await Promise.all(services.map((service) => service.stop()))
  process.exit(1)
}

/** They wait for Redis by themselves. */
function startServices() {
  const running = new Map(folders.map((folder) => [folder, runDevService(folder)]))
  services.push(...running.values())
  watchSources(folders, (file, edited) => {
    console.log(`${file} was edited, starting ${edited.map((folder) => basename(folder)).join(', ')} again`)
    for (const folder of edited) running.get(folder)?.replace()
  })
  // Keeps this process running if it has no services.
  setInterval(() => {}, 60_000)
}
