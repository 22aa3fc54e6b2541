/** Every scenario that `npm run bench -- <name>` knows, in the order of docs/performance.md. */
import type { Scenario } from '../scenario.ts'
import { closedLoop } from './closed-loop.ts'
import { failing } from './failing.ts'
import { fanOut1, fanOut10 } from './fanout.ts'
import { hung } from './hung.ts'
import { idle } from './idle.ts'
import { largeTopic } from './large-topic.ts'
import { latency } from './latency.ts'
import { noise } from './noise.ts'
import { outcomeLog } from './outcome-log.ts'
import { publish } from './publish.ts'
import { redisCost } from './redis-cost.ts'
import { signed } from './signed.ts'
import { subscriptions } from './subscriptions.ts'
import { throttled } from './throttled.ts'
import { waiting } from './waiting.ts'
import { webhookKeys } from './webhook-keys.ts'
import { wide1000, wide100000 } from './wide.ts'

export const SCENARIOS: readonly Scenario[] = [
  fanOut10,
  fanOut1,
  wide1000,
  wide100000,
  publish,
  closedLoop,
  latency,
  redisCost,
  waiting,
  throttled,
  failing,
  hung,
  subscriptions,
  largeTopic,
  idle,
  signed,
  webhookKeys,
  outcomeLog,
  noise,
]
