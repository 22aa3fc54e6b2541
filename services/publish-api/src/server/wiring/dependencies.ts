/** The dependencies of the app: all layers below, and the reads that requests share. */
import { createAddressGuard } from '@fantail/delivery'
import { LaneSurvey, Processes, ping, readTotals } from '@fantail/store'
import { WithoutEffectLog } from '../../aws/wire/without-effect.ts'
import { SharedRead } from '../../caches/shared-read.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { LaneBoard } from '../../lanes/lane-board.ts'
import { readNames } from '../../names/names.ts'
import type { Attempting } from './api-attempting.ts'
import type { ApiGround } from './api-ground.ts'
import type { PublishApiOptions } from './api-options.ts'
import type { ApiStores } from './api-stores.ts'
import type { CallerKeys } from './caller-keys.ts'
import type { Reporting } from './reporting.ts'

/** Totals of topics, queues and dead letters may be this old. */
const TOTALS_FRESH_MS = 10_000
/** Names that are searched may be this old, and up to 15 s if reading them takes long. */
const NAMES_FRESH_MS = 2_000
/** The list of processes may be this old. */
const PROCESSES_FRESH_MS = 2_000

/** The layers between the ground and the dependencies. */
export type Layers = ApiStores & Reporting & CallerKeys & Attempting

export function createDeps(
  ground: ApiGround,
  layers: Layers,
  { settings, log, telemetry, build, vault }: PublishApiOptions,
): ApiDeps {
  const { redis, now, health } = ground
  const { redisMemoryBytes: memoryBytes, attemptTimeoutMs } = settings
  return {
    ...layers,
    publisher: ground.publisher,
    totals: new SharedRead(() => readTotals(redis, { memoryBytes }), { freshMs: TOTALS_FRESH_MS }),
    names: new SharedRead(() => readNames(layers), { freshMs: NAMES_FRESH_MS }),
    processes: new SharedRead(() => new Processes(redis).list(), { freshMs: PROCESSES_FRESH_MS }),
    laneBoard: new LaneBoard({
      survey: new LaneSurvey(redis),
      quarantine: layers.quarantine,
      attemptTimeoutMs,
      health,
      clock: now,
    }),
    addressGuard: createAddressGuard(ground.guarded),
    vault,
    seals: ground.seals,
    health,
    build,
    checks: { redis: () => ping(redis), publisher: ground.checkPublisher },
    settings,
    log,
    withoutEffect: new WithoutEffectLog(log),
    metrics: telemetry.metrics,
    renderMetrics: () => telemetry.renderMetrics(),
    spans: telemetry.spans,
    travel: ground.travel,
    clock: now,
    // The runner needs the other dependencies, so `createWatches` makes it and sets it here.
    bulkRunner: { wake: () => undefined },
  }
}
