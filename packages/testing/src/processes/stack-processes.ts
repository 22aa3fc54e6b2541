/** The processes of a stack, for `fantail dev`. This file is not part of the public interface, and may change. */
export { Guard } from './process-guard.ts'
export { askServer } from './redis-session.ts'
export { findServer, type ServerFiles, type ServiceName } from './server-files.ts'
export { ServiceChild } from './service-child.ts'
export type { StackRedis } from './shared-redis.ts'
export { startStackRedis } from './stack-redis.ts'
