export { beforeFirst, crashing, standStill, waitingFirst } from './crashing.ts'
export { actAsBucket } from './network/bucket.ts'
export { type CountingProxy, startCountingProxy } from './network/counting-proxy.ts'
export { startMailServer, type TestMail, type TestMailServer } from './network/mail-server.ts'
export { freePort } from './network/ports.ts'
export { startProxy, type TestProxyOptions } from './network/proxy.ts'
export {
  FLOOD_BYTES_MAX,
  FLOODS,
  type Flood,
  flood,
  onRawRequest,
  type RawServer,
  startRawServer,
} from './network/raw-server.ts'
export {
  type ReceivedRequest,
  type Receiver,
  type Reply,
  type Responder,
  startReceiver,
} from './network/receiver.ts'
export { createAuthority, createSelfSigned } from './network/tls-certificates.ts'
export {
  appleCredential,
  browserSubscription,
  firebaseCredential,
  vapidCredential,
} from './push-credentials.ts'
export { RANDOM_TIMEOUT_MS, randomRuns } from './random-runs.ts'
export { startCluster, type TestCluster } from './redis/redis-cluster.ts'
export {
  aheadKey,
  behindKey,
  bitsKey,
  fifoKey,
  freshKey,
  isolatedFifoKey,
  isolatedGroupsKey,
  isolatedLogKey,
  leaseKey,
  logKey,
  retryKey,
  skewKey,
  stateKey,
  tombstoneKey,
} from './redis/redis-keys.ts'
export { atEachRequest, startRedisOutage } from './redis/redis-outage.ts'
export { startWithReplica, type TestReplica } from './redis/redis-replica.ts'
export { startSentinels, type TestSentinels } from './redis/redis-sentinels.ts'
export {
  canSpawnRedis,
  canSpawnTlsRedis,
  connectPatiently,
  redisReleases,
  redisServerPath,
  startRedis,
  type TestRedis,
  type TestRedisOptions,
} from './redis/redis-server.ts'
export { createTestTls, type TestTls } from './redis/redis-tls.ts'
export { type SeenCommand, watchCommands } from './redis/watch-commands.ts'
export { withoutToken } from './unsubscribe-token.ts'
export { startCpuTimer, startFairTimer, steadyNow, Waits, waitedMs } from './waiting/fair-timer.ts'
export { waitFor } from './waiting/wait-for.ts'
export { whenClosed } from './waiting/when-closed.ts'
