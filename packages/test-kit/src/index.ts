export * from './redis-server.ts'
export * from './wait-for.ts'
