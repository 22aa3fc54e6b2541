import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBuild } from './build.ts'

const COMMIT = 'c0ffee0123456789c0ffee0123456789c0ffee01'
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'fantail-build-'))
  await write('package.json', '{"version":"1.2.3"}')
})

afterEach(() => rm(root, { recursive: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(root, path, '..'), { recursive: true })
  await writeFile(join(root, path), text)
}

test('an image says the commit that it was built from', () => {
  expect(readBuild('abc', root)).toEqual({ version: '1.2.3', commit: 'abc' })
})

test('without a checkout the commit is unknown', () => {
  expect(readBuild(undefined, root)).toEqual({ version: '1.2.3', commit: 'unknown' })
})

test('a checkout says the commit of its branch, loose or packed, or of its detached head', async () => {
  await write('.git/HEAD', 'ref: refs/heads/main\n')
  expect(readBuild(undefined, root).commit).toBe('unknown')
  await write('.git/packed-refs', `# pack-refs\n${COMMIT} refs/heads/main\n`)
  expect(readBuild(undefined, root).commit).toBe(COMMIT)
  await write('.git/refs/heads/main', 'f00d\n')
  expect(readBuild(undefined, root).commit).toBe('f00d')
  await write('.git/HEAD', `${COMMIT}\n`)
  expect(readBuild(undefined, root).commit).toBe(COMMIT)
})

test('a worktree says the commit of its own branch', async () => {
  await write('.git', 'gitdir: main/.git/worktrees/other\n')
  await write('main/.git/worktrees/other/HEAD', 'ref: refs/heads/other\n')
  await write('main/.git/worktrees/other/commondir', '../..\n')
  await write('main/.git/refs/heads/other', `${COMMIT}\n`)
  expect(readBuild(undefined, root).commit).toBe(COMMIT)
})

test('a checkout that cannot be read says why', async () => {
  await write('.git', 'nonsense')
  expect(readBuild(undefined, root)).toEqual({
    version: '1.2.3',
    commit: 'unknown',
    problem: expect.stringContaining('.git is neither'),
  })
})

test('this checkout has a version', () => {
  expect(readBuild().version).toMatch(/^\d+\.\d+\.\d+/)
})
