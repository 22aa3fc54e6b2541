export * from './redrive-service.ts'
