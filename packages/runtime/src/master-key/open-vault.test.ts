import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMasterKeyText, parseMasterKey } from '@fantail/vault'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { masterKeyPath, openVault } from './open-vault.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fantail-vault-'))
})

afterEach(() => rm(folder, { recursive: true }))

const newKey = () => parseMasterKey(createMasterKeyText())

test('local mode makes one key for all who start together, and keeps it to its owner', async () => {
  const dataDir = join(folder, 'new')
  const vaults = await Promise.all([1, 2, 3, 4].map(() => openVault({ mode: 'local', dataDir })))
  expect(new Set(vaults.map((vault) => vault?.keyId)).size).toBe(1)
  expect((await stat(masterKeyPath(dataDir))).mode & 0o777).toBe(0o600)
  const sealed = vaults[0]?.seal('x', 'a') ?? ''
  expect((await openVault({ mode: 'local', dataDir }))?.open(sealed, 'a')).toBe('x')
})

test('a key given is the one that seals, in either mode', async () => {
  const [masterKey, old] = [newKey(), newKey()]
  const masterKeysOld = old && [old]
  for (const mode of ['local', 'server'] as const) {
    const vault = await openVault({ mode, dataDir: folder, masterKey, masterKeysOld })
    expect(vault?.keyIds).toEqual([masterKey?.id, old?.id])
  }
  await expect(readFile(masterKeyPath(folder))).rejects.toMatchObject({ code: 'ENOENT' })
})

test('server mode has no vault without a key', async () => {
  expect(await openVault({ mode: 'server', dataDir: folder })).toBeUndefined()
})

test('a file that holds no key is named, and is not replaced', async () => {
  await writeFile(masterKeyPath(folder), 'secret but no key')
  await expect(openVault({ mode: 'local', dataDir: folder })).rejects.toThrow(
    `${masterKeyPath(folder)} holds no master key`,
  )
  expect(await readFile(masterKeyPath(folder), 'utf8')).toBe('secret but no key')
})
