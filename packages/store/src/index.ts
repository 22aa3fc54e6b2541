export * from './keys.ts'
export * from './redis.ts'
export * from './scripts.ts'
export * from './shards.ts'
