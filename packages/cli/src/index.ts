export { COMMANDS } from './command-table.ts'
export { EXIT_CODES } from './exit-codes.ts'
export { resealAll } from './secrets/reseal.ts'
