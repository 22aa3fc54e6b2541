/**
 * Keys that only Fantail's scripts build, for tests that look into Redis. `base` is a shard's prefix (store's keys.ts).
 */

export const skewKey = (base: string) => `${base}skew`
export const aheadKey = (base: string) => `${base}ahead`
export const bitsKey = (base: string, sliceId: string) => `${base}bits:${sliceId}`
export const tombstoneKey = (base: string, id: string) => `${base}tombstone:${id}`
export const fifoKey = (base: string, topicUid: string) => `${base}fifo:${topicUid}`
export const logKey = (base: string, topicUid: string) => `${base}log:${topicUid}`
export const freshKey = (base: string, subscriptionId: string) => `${base}fresh:${subscriptionId}`
export const retryKey = (base: string, subscriptionId: string) => `${base}retry:${subscriptionId}`
export const leaseKey = (base: string, subscriptionId: string) => `${base}lease:${subscriptionId}`
export const stateKey = (base: string, subscriptionId: string) => `${base}state:${subscriptionId}`
export const behindKey = (base: string, subscriptionId: string, group: string) =>
  `${base}behind:${subscriptionId}:${group}`
export const isolatedGroupsKey = (base: string, topicUid: string) => `${base}isolated:${topicUid}`
export const isolatedFifoKey = (base: string, topicUid: string, group: string) =>
  fifoKey(base, `${topicUid}:${group}`)
export const isolatedLogKey = (base: string, topicUid: string, group: string) =>
  logKey(base, `${topicUid}:${group}`)
