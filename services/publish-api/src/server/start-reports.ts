/** Lines of the log at the start about settings that most operators want to change. */
import { type ApiSettings, redisTarget } from '@fantail/config'
import { KEY_COMMAND } from '@fantail/contracts'
import { type Redis, whenReady } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'

export function reportSettings(redis: Redis, deps: ApiDeps, settings: ApiSettings): void {
  const { log } = deps
  if (settings.auth) void reportWithoutKeys(redis, deps, settings)
  if (settings.auth && settings.publicUrl === undefined) reportWithoutPublicUrl(log)
  if (settings.mode === 'server') reportWithoutTls(log, settings)
}

/** Without a public URL, links in messages and links to certificates use the host that a caller has named. */
function reportWithoutPublicUrl(log: ApiDeps['log']): void {
  log.warn({ variable: 'FANTAIL_PUBLIC_URL' }, 'links.by_caller')
}

/** Without TLS here or at a proxy, keys and messages can be read on their way. */
function reportWithoutTls(log: ApiDeps['log'], { tlsCertFile, trustedProxies }: ApiSettings): void {
  if (tlsCertFile !== undefined || trustedProxies !== undefined) return
  log.warn({ variables: ['FANTAIL_TLS_CERT_FILE', 'FANTAIL_TRUSTED_PROXIES'] }, 'tls.none')
}

/** Without this line, a new server would refuse everybody and not say what to do. */
async function reportWithoutKeys(redis: Redis, { keys, log }: ApiDeps, settings: ApiSettings): Promise<void> {
  try {
    await whenReady(redis)
    if (settings.awsCredentials || (await keys.count()) > 0) return
    // Without a Redis in the settings, the command finds the Redis by the folder.
    const place = redisTarget(settings) ? '' : `FANTAIL_DATA_DIR=${settings.dataDir} `
    log.warn({ command: `${place}${KEY_COMMAND}` }, 'keys.none')
  } catch (error) {
    log.warn({ err: error }, 'keys.read_failed')
  }
}
