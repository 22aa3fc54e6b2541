/**
 * A Node that is too old is told which one is needed. `npm run test:packages` does that with a real old Node, and here
 * this Node pretends to be one.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NODE_MIN, ROOT, textOf } from '../../tests/repo/repository.ts'

/** Runs the file. Returns its stderr and its exit code. */
function runAs(release: string, file: string): [string, number | null] {
  const pretend = `
    Object.defineProperty(process, 'version', { value: 'v${release}' })
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${release}' } })`
  const words = [
    '--import',
    `data:text/javascript,${encodeURIComponent(pretend)}`,
    join(ROOT, file),
    '--help',
  ]
  const { stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return [stderr.trim(), status]
}

test('npm’s scripts and `fantail` name the oldest Node that they need', () => {
  expect(runAs('17.9.1', 'infra/bootstrap/main.mjs')).toEqual([
    expect.stringMatching(/^fantail: install Node 18 or newer together with npm; this is v17\.9\.1 \(\S+\)$/),
    1,
  ])
  expect(runAs('22.21.1', 'infra/bin/fantail.mjs')).toEqual([
    expect.stringContaining(`fantail needs Node ${NODE_MIN} or newer, and this is v22.21.1;`),
    1,
  ])
  expect(runAs(`${NODE_MIN}.0`, 'infra/bin/fantail.mjs')).toEqual(['', 0])
})

test('the entry of npm’s scripts reads no other file before it has looked', () => {
  const entry = textOf('infra/bootstrap/main.mjs')
  expect(entry).not.toMatch(/^import\b|^await\b|\brequire\(/m)
  const [, oldest] = /^const NODE_MIN = (\d+)$/m.exec(entry) ?? []
  expect(textOf('README.md')).toContain(`You need Node ${oldest} or newer and npm`)
  expect(textOf('infra/bootstrap/tools/packages.mjs')).toContain(`Node ${oldest} or newer`)
})
