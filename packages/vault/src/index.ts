export * from './master-key.ts'
export * from './vault.ts'
