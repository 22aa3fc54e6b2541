export { resealAll } from './secrets/reseal.ts'
