export { commandLine } from './command-line.ts'
export { COMMANDS, SERVICES } from './command-table.ts'
export { EXIT_CODES } from './exit-codes.ts'
export { resealAll } from './secrets/reseal.ts'
