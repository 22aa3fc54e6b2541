import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { newFolder, removeFolder } from '../dev/dev-task.fixture.ts'
import { isLocked, tryLock, withLock } from './lock.mjs'
import { processOf } from './processes.mjs'

let folder: string
let path: string

beforeEach(async () => {
  folder = await newFolder()
  path = join(folder, 'some.lock')
})

afterEach(() => removeFolder(folder))

it('has one holder at a time', () => {
  const release = tryLock(path)
  expect(isLocked(path)).toBe(true)
  expect(tryLock(path)).toBeUndefined()
  release?.()

  expect(isLocked(path)).toBe(false)
  expect(tryLock(path)).toBeDefined()
})

it('is free once its holder is gone', async () => {
  const { pid } = spawnSync('true')
  await writeFile(path, JSON.stringify({ pid, parent: 1, name: 'true', startedAt: '1' }))

  expect(tryLock(path)).toBeDefined()
})

it('is free when another process has its holder’s pid now', async () => {
  await writeFile(path, JSON.stringify({ ...processOf(process.pid), startedAt: 'earlier' }))

  expect(tryLock(path)).toBeDefined()
})

it('lets pieces of work run one after the other', async () => {
  const events: string[] = []
  const work = (name: string) =>
    withLock(path, async () => {
      events.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      events.push(`${name} ends`)
    })
  await Promise.all([work('a'), work('b')])

  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})
