import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitOf, withCheckout } from './checkout.ts'

const repository = mkdtempSync(join(tmpdir(), 'fantail-repository-'))
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], {
    cwd: repository,
    stdio: 'ignore',
  })
const save = (name: string, text: string) => writeFileSync(join(repository, name), text)
const INSTALLER = `import { writeFileSync } from 'node:fs'
export const installPackages = () => writeFileSync(new URL('../../installed', import.meta.url), 'yes')`

beforeAll(() => {
  git('init', '--quiet')
  mkdirSync(join(repository, 'infra/bootstrap'), { recursive: true })
  save('infra/bootstrap/packages.mjs', INSTALLER)
  save('state', 'first')
  git('add', '.')
  git('commit', '--quiet', '--message', 'First')
  save('state', 'second')
  git('commit', '--quiet', '--all', '--message', 'Second')
})
afterAll(() => rmSync(repository, { recursive: true }))

test('an earlier commit is checked out with its packages, and removed at the end', async () => {
  const used = await withCheckout(
    commitOf('HEAD~1', repository),
    async (folder) => {
      const read = (name: string) => readFileSync(join(folder, name), 'utf8')
      expect([read('state'), read('installed')]).toEqual(['first', 'yes'])
      return folder
    },
    repository,
  )
  expect(existsSync(used)).toBe(false)
})

test('a checkout is removed although its use fails', async () => {
  let used = ''
  const failing = withCheckout(
    commitOf('HEAD', repository),
    async (folder) => {
      used = folder
      throw new Error('no figures')
    },
    repository,
  )
  await expect(failing).rejects.toThrow('no figures')
  expect(existsSync(used)).toBe(false)
})

test('a revision that is unknown is named in the error', () => {
  for (const revision of ['no-such-branch', 'deadbeef', '--all', ''])
    expect(() => commitOf(revision, repository)).toThrow(`has no commit ${revision}`)
})
