/** A repository in a temporary folder, which is removed after the tests of the file. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']

export function useRepository() {
  const folder = mkdtempSync(join(tmpdir(), 'fantail-repository-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const git = (...words: string[]) =>
    execFileSync('git', [...IDENTITY, ...words], { cwd: folder, encoding: 'utf8' }).trim()
  const save = (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
  }
  git('init', '--quiet')
  return {
    folder,
    /** Writes files without a commit. */
    save,
    /** The commit's name. */
    commit: (files: Record<string, string>) => {
      save(files)
      git('add', '.')
      git('commit', '--quiet', '--message', 'A state')
      return git('rev-parse', 'HEAD')
    },
  }
}
