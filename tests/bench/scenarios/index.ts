/** Every scenario that `npm run bench -- <name>` knows, in the order of docs/performance.md. */
import type { Scenario } from '../scenario.ts'
import { fanOut1, fanOut10 } from './fanout.ts'
import { throttled } from './throttled.ts'
import { waiting } from './waiting.ts'

export const SCENARIOS: readonly Scenario[] = [fanOut10, fanOut1, waiting, throttled]
