import { SYSTEM_POLICY } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { AWS_MANAGED_POLICY } from '../protocols/fixed-traits.ts'
import { describeOnFailure, durationInWords } from './retry-curve.ts'

const { healthyRetryPolicy: policy } = SYSTEM_POLICY
const FOUR_DAYS = 345_600

test.each([
  [
    { policy, retentionSeconds: FOUR_DAYS, queue: 'dead' },
    'after 4 attempts in 1 min to dead; at once if refused permanently',
  ],
  [
    { policy, retentionSeconds: FOUR_DAYS, queue: null },
    'after 4 attempts in 1 min discarded; at once if refused permanently',
  ],
  [
    { policy: { ...policy, numRetries: 0 }, retentionSeconds: FOUR_DAYS, queue: 'dead' },
    'after 1 attempt to dead',
  ],
  [
    { policy: { ...policy, numRetries: 2, numNoDelayRetries: 2 }, retentionSeconds: FOUR_DAYS, queue: null },
    'after 3 attempts discarded; at once if refused permanently',
  ],
  [
    { policy, retentionSeconds: 60, queue: 'dead' },
    'after 4 attempts in 1 min to dead; at once if refused permanently',
  ],
  [
    { policy: { ...policy, numRetries: 30 }, retentionSeconds: 300, queue: 'dead' },
    'after 5 min, when the topic’s retention ends, before the last of 31 attempts: to dead; at once if refused permanently',
  ],
  [
    { policy: AWS_MANAGED_POLICY.healthyRetryPolicy, retentionSeconds: 30 * 86_400, queue: null },
    'after 100016 attempts in 23.1 d discarded; at once if refused permanently',
  ],
])('%o', (failing, text) => expect(describeOnFailure(failing)).toBe(text))

test.each([
  [1, '1 s'],
  [59, '59 s'],
  [90, '1.5 min'],
  [3_600, '1 h'],
  [84_300, '23.4 h'],
  [172_800, '2 d'],
])('%i s is %s', (seconds, text) => expect(durationInWords(seconds)).toBe(text))
