export { createApp, endpointsOf } from './app.ts'
export type { ApiDeps, ApiMetrics, Log, MessageLog, Settings } from './deps.ts'
export { TopicCache } from './topic-cache.ts'
