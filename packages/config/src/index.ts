export * from './redis-url.ts'
export { type AwsCredential, REPOSITORY_ROOT } from './schemas.ts'
export * from './services.ts'
export { type Env, type SettingProblem, SettingsError } from './setting.ts'
