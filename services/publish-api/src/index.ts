export { createApp, endpointsOf } from './app.ts'
export type { ApiDeps, Log, Settings } from './deps.ts'
export { TopicCache } from './topic-cache.ts'
