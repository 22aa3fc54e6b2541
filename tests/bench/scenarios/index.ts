/** Every scenario that `npm run bench -- <name>` knows, in the order of docs/performance.md. */
import type { Scenario } from '../scenario.ts'
import { archiving } from './cost/archiving.ts'
import { earlier } from './cost/earlier.ts'
import { idle } from './cost/idle.ts'
import { idleStack } from './cost/idle-stack.ts'
import { liveTails } from './cost/live-tails.ts'
import { outcomeLog, outcomeLogRetries } from './cost/outcome-log-cost.ts'
import { recordings } from './cost/recordings.ts'
import { redisCost } from './cost/redis-cost.ts'
import { sealing } from './cost/sealing.ts'
import { signed } from './cost/signed.ts'
import { webhookKeys } from './cost/webhook-key-cost.ts'
import { failing } from './load/failing.ts'
import { fairQueues } from './load/fair-queues.ts'
import { hung } from './load/hung.ts'
import { hungProviders } from './load/hung-providers.ts'
import { largeTopic } from './load/large-topic.ts'
import { subscriptions } from './load/many-subscriptions.ts'
import { throttled } from './load/throttled.ts'
import { waiting } from './load/waiting.ts'
import { awsWire } from './throughput/aws-wire.ts'
import { checkedPublish } from './throughput/checked-publish.ts'
import { closedLoop } from './throughput/closed-loop.ts'
import { fanOut1, fanOut10 } from './throughput/fanout.ts'
import { latency } from './throughput/latency.ts'
import { noise } from './throughput/noise.ts'
import { publish } from './throughput/publish-rate.ts'
import { scale } from './throughput/scale.ts'
import { tls } from './throughput/tls.ts'
import { wide1000, wide100000 } from './throughput/wide.ts'

export const SCENARIOS: readonly Scenario[] = [
  fanOut10,
  fanOut1,
  wide1000,
  wide100000,
  tls,
  publish,
  checkedPublish,
  closedLoop,
  awsWire,
  latency,
  scale,
  redisCost,
  waiting,
  throttled,
  failing,
  hung,
  hungProviders,
  fairQueues,
  subscriptions,
  largeTopic,
  idle,
  idleStack,
  signed,
  webhookKeys,
  outcomeLog,
  outcomeLogRetries,
  recordings,
  sealing,
  archiving,
  liveTails,
  earlier,
  noise,
]
