export * from './aws-error.ts'
export * from './operation.ts'
export * from './shapes.ts'
