export { CopyMismatchError } from './copy-keys.ts'
export * from './move-data.ts'
export type { WaitingWork } from './waiting-work.ts'
