export { createOwnHosts, foreignHostText, type OwnHosts, type OwnHostsSettings } from './own-hosts.ts'
export { redisTarget } from './redis-settings.ts'
export { type RedisPlace, redisUrlPath, resolveRedisUrl } from './redis-url.ts'
export type { AwsCredential } from './schemas.ts'
export {
  type ApiSettings,
  readApiSettings,
  readKeySettings,
  readReceiverSettings,
  readRedriveSettings,
  readWorkerSettings,
} from './services.ts'
export { SettingsError } from './setting.ts'
