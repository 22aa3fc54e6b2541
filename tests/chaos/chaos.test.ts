/**
 * A short run of one seed, without the rounds in which providers hang in turn. `npm run test:chaos` includes these
 * rounds, and runs any seed for any time.
 */
import { expect, test } from 'vitest'
import { type ArchiveFound, judgeArchive } from './judges/archive-judge.ts'
import { fullestWindow } from './judges/throttle-judge.ts'
import { createSchedule, scheduleLines } from './plan/schedule.ts'
import { runChaos } from './run.ts'

/**
 * This seed has a failover and a redrive, and also kills, freezes, lost connections, a clock step and forgotten
 * scripts.
 */
const SEED = 95
const SECONDS = 40
const TEST_MS = 300_000

test('a seed determines every input and every fault', () => {
  const lines = scheduleLines(createSchedule(7, 60))
  expect(scheduleLines(createSchedule(7, 60))).toEqual(lines)
  expect(scheduleLines(createSchedule(8, 60))).not.toEqual(lines)
})

test('the fullest second of many sends is found', () => {
  expect(fullestWindow([])).toEqual({ most: 0, from: 0 })
  expect(fullestWindow([0, 900, 1_000, 1_100, 1_899, 3_000])).toEqual({ most: 4, from: 900 })
})

test('a message that an archive or a replay lacks is found, and so is one that is not marked', () => {
  const good: ArchiveFound = {
    early: ['e0', 'e1'],
    publishes: [
      { texts: ['a0'], fate: 'accepted' },
      { texts: ['a1'], fate: 'unknown' },
      { texts: ['a2'], fate: 'refused' },
    ],
    blocks: 1,
    replays: new Map([
      ['r0', 'completed'],
      ['r1', null],
    ]),
    replayed: new Map([
      ['e0', 1],
      ['e1', 2],
    ]),
    last: ['e0', 'e1', 'a0'].map((name) => ({ name, isMarked: true })),
  }
  const broken: [string, Partial<ArchiveFound>][] = [
    ['not in the archive: 1: a0', { last: good.last.slice(0, 2) }],
    ['no block was written', { blocks: 0 }],
    ['refused, and in the archive: 1: a2', { last: [...good.last, { name: 'a2', isMarked: true }] }],
    ['not marked as replayed: 1: a0', { last: [...good.last, { name: 'a0', isMarked: false }] }],
    ['no completed replay: 1: r1 failed', { replays: new Map([...good.replays, ['r1', 'failed']]) }],
    ['fewer than 1 times replayed: 1: e1', { replayed: new Map([['e0', 1]]) }],
  ]
  expect(judgeArchive(good)).toEqual([])
  for (const [finding, change] of broken)
    expect(judgeArchive({ ...good, ...change })).toEqual([`chaos-archive: ${finding}`])
})

test(
  'every delivery ends in one place, in order and at its rate, whatever fails when',
  async () => {
    const { findings, folder } = await runChaos(createSchedule(SEED, SECONDS), { isolation: false })
    expect(findings, `what happened is in ${folder}`).toEqual([])
  },
  TEST_MS,
)
