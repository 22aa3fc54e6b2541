export * from './envelope.ts'
export * from './request-headers.ts'
export * from './target.ts'
