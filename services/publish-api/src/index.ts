export { createApp } from './app.ts'
export type { ApiDeps } from './deps.ts'
export { listen } from './server/server.ts'
