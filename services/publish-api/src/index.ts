export type { ApiDeps } from './deps/api-deps.ts'
export { createApp } from './server/app.ts'
export { listen } from './server/server.ts'
