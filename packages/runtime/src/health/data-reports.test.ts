import type { NewEntry } from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { expect, test } from 'vitest'
import { logLines } from '../log-lines.fixture.ts'
import { createLogger } from '../loops/logger.ts'
import { reportLeaseEnds, reportQuarantine } from './data-reports.ts'

const ENTRY: NewEntry = { id: 'i', reason: 'recordUnreadable', detail: 'd', raw: 'secret' }

test('entries of the quarantine and the ends of leases are counted and logged, and no raw data is', () => {
  const { destination, lines } = logLines()
  const reports = { metrics: createMetrics(), log: createLogger({ service: 'test', destination }) }
  const onTry = reportQuarantine(reports)
  for (const result of ['added', 'present', 'full', 'full', 'present'] as const) onTry(result, ENTRY)
  reportLeaseEnds(reports)('a queue', 3)
  const { quarantineAdded, quarantineRefused, queueMessagesExpired } = reports.metrics
  const labels = { cause: 'recordUnreadable' }
  expect([quarantineAdded.of(labels).value, quarantineRefused.of(labels).value]).toEqual([1, 2])
  expect(queueMessagesExpired.of({}).value).toBe(3)
  expect(lines().map(({ msg }) => msg)).toEqual([
    'quarantine.added',
    'quarantine.full',
    'quarantine.has_capacity',
    'queue.lease_ended',
  ])
  expect(JSON.stringify(lines())).not.toContain('secret')
})
