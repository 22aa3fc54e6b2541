export { createApp, endpointsOf } from './app.ts'
export type { ApiDeps, Log, Settings } from './deps.ts'
export { type ApiServer, type ListenOptions, listen } from './http/server.ts'
export { TopicCache } from './topic-cache.ts'
