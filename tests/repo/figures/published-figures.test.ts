/** Checks that the figures of the documents are those of the raw log, and that a release notices when they are old. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FIGURES_LOG, figureProblems, HOT_PATH } from '../../../infra/release/figures-check.mjs'
import { type FiguresLog, parseLog } from '../../bench/documents/figures-log.ts'
import { publishedScenarios, REGIONS } from '../../bench/documents/published-tables.ts'
import { DOCUMENTS, missingIn, OLD_FIGURES, textIn, withTables } from '../../bench/documents/table-regions.ts'
import { useRepository } from '../../bench/processes/git-repository.fixture.ts'
import { SCENARIOS } from '../../bench/scenarios/index.ts'
import { ROOT, textOf } from '../repository.ts'
import { scalingSums } from './scaling-sums.ts'

const isMeasured = existsSync(join(ROOT, FIGURES_LOG))

/** Names of the regions whose text is not what the log says. */
function wrongRegions(log: FiguresLog, textOfDocument = textOf): string[] {
  return REGIONS.filter((region) => {
    const text = textOfDocument(region.document)
    return textIn(region, text) !== textIn(region, withTables(region.document, text, log))
  }).map(({ name }) => name)
}

const HEAD = {
  commit: 'c0ffee'.repeat(7),
  measuredOn: '2026-01-31',
  machine: '2 cores of an abacus',
  software: 'Linux 6.1, Node 24.21.0, Redis 7.0.15',
  quick: false,
}
const MADE_UP = [
  JSON.stringify(HEAD),
  '{"scenario":"fanout-10","text":"round 1"}',
  '{"scenario":"fanout-10","figure":"deliveries","value":24181.4,"spread":[23000,25000.25],"unit":"/s"}',
  '{"scenario":"fanout-10","figure":"Fantail : BullMQ by hand","value":3.934,"unit":"×","atLeast":7}',
  '{"scenario":"fanout-10","figure":"the machine, used by others meanwhile","value":1.25,"unit":"%"}',
].join('\n')

test('a region has the rows of the log, what misses its bar in bold, and where it was measured', () => {
  const log = parseLog(MADE_UP)
  const region = REGIONS.find(({ name }) => name === 'throughput')
  const text = region && textIn(region, withTables('README.md', textOf('README.md'), log))
  expect(text).toMatch(/\| fan-out 10 +\| 24,181 \(23,000–25,000\) \/s +\| – +\| – +\| \*\*3.93 ×\*\*/)
  expect(text).toContain('- Commit `c0ffeec0ffee`, measured on 2026-01-31')
  expect(text).toContain('- Machine: 2 cores of an abacus. Other programs used at most 1.25 % of it.')
  expect(text).toContain(`(${FIGURES_LOG})`)
  expect(missingIn(log)).toContain('fanout-10: Fantail : bare loop')
  expect(missingIn(log)).not.toContain('fanout-10: deliveries')
})

test('a figure that was changed is found, in a document or in the log', () => {
  const documents = new Map(
    DOCUMENTS.map((path) => [path, withTables(path, textOf(path), parseLog(MADE_UP))]),
  )
  const read = (path: string) => documents.get(path) ?? ''
  expect(wrongRegions(parseLog(MADE_UP), read)).toEqual([])
  expect(wrongRegions(parseLog(MADE_UP.replace('24181.4', '34181.4')), read)).toEqual(['throughput'])
  const better = (path: string) => read(path).replace('3.93 ×', '7.93 ×')
  expect(wrongRegions(parseLog(MADE_UP), better)).toEqual(['throughput', 'results'])
})

test('a mark that is missing is named', () => {
  const text = textOf('README.md').replace('<!-- bench: throughput -->', '')
  expect(() => withTables('README.md', text, parseLog(MADE_UP))).toThrow(
    'README.md needs `<!-- bench: throug',
  )
})

test('the documents show the figures of the log, and without a log they say that theirs are old', () => {
  if (isMeasured) {
    const log = parseLog(textOf(FIGURES_LOG))
    expect([log.head.quick, missingIn(log), wrongRegions(log)]).toEqual([false, [], []])
  } else {
    const silent = REGIONS.filter(
      (region) => !textIn(region, textOf(region.document)).startsWith(OLD_FIGURES),
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  }
})

const spaced = (text: string) => text.replaceAll(/\s+/g, ' ')

test.runIf(isMeasured)('the costs and sums of the page about scaling follow from the log', () => {
  const page = spaced(textOf('docs/scaling.md'))
  expect(scalingSums(parseLog(textOf(FIGURES_LOG))).filter((sum) => !page.includes(sum))).toEqual([])
})

// A rebase gives the measured commit another name.
test.runIf(isMeasured)('the measured commit is in the history, so that a release can compare with it', () => {
  const { commit } = parseLog(textOf(FIGURES_LOG)).head
  const words = ['merge-base', '--is-ancestor', commit, 'HEAD']
  expect([commit, spawnSync('git', words, { cwd: ROOT }).status]).toEqual([commit, 0])
})

test('the tables name scenarios and files that exist', () => {
  const known = SCENARIOS.map(({ name }) => name)
  expect(publishedScenarios().filter((name) => !known.includes(name))).toEqual([])
  expect(HOT_PATH.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

const repository = useRepository()

test('a release has no problem while the way of a delivery is as it was measured', async () => {
  const { folder, commit, save } = repository
  expect(await figureProblems(folder)).toEqual([expect.stringContaining(`there is no ${FIGURES_LOG}`)])
  const hot = 'packages/jobs/src/group.ts'
  const measured = commit({ [hot]: '1', 'README.md': 'old', 'packages/jobs/src/group.test.ts': '1' })
  save({ [FIGURES_LOG]: `${JSON.stringify({ ...HEAD, commit: measured })}\n{}\n` })
  commit({ 'README.md': 'new', 'packages/jobs/src/group.test.ts': '2' })
  expect(await figureProblems(folder)).toEqual([])
  commit({ [hot]: '2' })
  expect(await figureProblems(folder)).toEqual([
    `${hot} has changed since commit ${measured}, whose figures are published`,
  ])
  save({ [FIGURES_LOG]: JSON.stringify(HEAD) })
  await expect(figureProblems(folder)).rejects.toThrow(`cannot be compared with commit ${HEAD.commit}`)
})
