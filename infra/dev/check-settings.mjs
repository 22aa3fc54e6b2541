// @ts-check
/**
 * Checks the settings of every service of the local stack. A service with an invalid setting would exit and be
 * restarted for ever. Exits with 1 if a service could not start, or if the configured Redis answers and is of another
 * kind. Every problem is named once on stderr.
 *
 * node --conditions=@fantail/source check-settings.mjs
 */
import {
  readApiSettings,
  readReceiverSettings,
  readRedriveSettings,
  readWorkerSettings,
  redisTarget,
  SettingsError,
} from '../../packages/config/src/index.ts'

const env = { FANTAIL_MODE: 'local', ...process.env }
const problems = new Set()
for (const read of [readApiSettings, readWorkerSettings, readRedriveSettings, readReceiverSettings]) {
  try {
    read(env)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    for (const { name, message } of error.problems) problems.add(`  ${name} ${message}`)
  }
}
if (problems.size > 0) {
  console.error(['cannot start with these settings:', ...problems].join('\n'))
  process.exitCode = 1
} else {
  const target = redisTarget(readRedriveSettings(env))
  // The module is loaded only if the environment names a Redis.
  if (target !== undefined) await checkRedis(target)
}

/** @param {NonNullable<ReturnType<typeof redisTarget>>} target */
async function checkRedis(target) {
  const { refuseWrong } = await import('../../packages/store/src/index.ts')
  try {
    await refuseWrong(target)
  } catch (error) {
    console.error(`cannot start with this Redis: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}
