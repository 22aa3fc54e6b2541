// @ts-check
/** Settings that can name a Redis outside the local stack (packages/config/src/redis-settings.ts). */
const PLACES = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS']

/** @param {NodeJS.ProcessEnv} env */
export function namesRedis(env) {
  return PLACES.some((name) => env[name]?.trim())
}
