import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitOf, withCheckout } from './checkout.ts'
import { useRepository } from './git-repository.fixture.ts'

const INSTALLER = `import { writeFileSync } from 'node:fs'
export const installPackages = () => writeFileSync(new URL('../../installed', import.meta.url), 'yes')`
const { folder: repository, commit } = useRepository()
const first = commit({ 'infra/bootstrap/packages.mjs': INSTALLER, state: 'first' })
const second = commit({ state: 'second' })

test('an earlier commit is checked out with its packages, and removed at the end', async () => {
  expect([commitOf('HEAD', repository), commitOf('HEAD~1', repository)]).toEqual([second, first])
  const used = await withCheckout(
    first,
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
    second,
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
