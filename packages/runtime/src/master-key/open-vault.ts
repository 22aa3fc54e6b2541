/**
 * Opens the vault of a process with the operator's master keys, which a key service may have to unwrap. In local mode
 * without one, the first service that starts makes a key. It stores the key in the data folder, readable by its owner
 * only. In server mode without a key there is no vault, and secrets are refused.
 */
import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createMasterKeyText,
  createVault,
  type MasterKey,
  parseMasterKey,
  type Vault,
  WrappedKey,
} from '@fantail/vault'
import type { Logger } from '../loops/logger.ts'
import type { KeyServiceSettings } from './key-service.ts'
import { unwrapAll, unwrapInTime } from './unwrap-keys.ts'

interface VaultSettings extends KeyServiceSettings {
  mode: 'local' | 'server'
  dataDir: string
  masterKey?: MasterKey | undefined
  masterKeysOld?: MasterKey[] | undefined
}

/**
 * `log`: wrapped keys that cannot be unwrapped now are tried again and again, and the vault throws a VaultError
 * meanwhile. Without it this rejects if a key cannot be unwrapped. It also rejects if local mode can neither read nor
 * make the key's file.
 */
export async function openVault(settings: VaultSettings, log?: Logger): Promise<Vault | undefined> {
  const { mode, dataDir, masterKey, masterKeysOld = [] } = settings
  if (!masterKey) return mode === 'local' ? createVault([await localKey(dataDir)]) : undefined
  const wrapped = [masterKey, ...masterKeysOld].filter((key) => key instanceof WrappedKey)
  await (log ? unwrapInTime(wrapped, settings, log) : unwrapAll(wrapped, settings))
  return createVault([masterKey, ...masterKeysOld])
}

/** The file in which local mode keeps its master key. */
export const masterKeyPath = (dataDir: string) => join(dataDir, 'master.key')

async function localKey(dataDir: string): Promise<MasterKey> {
  const path = masterKeyPath(dataDir)
  const text = (await readText(path)) ?? (await makeKey(dataDir, path))
  const key = parseMasterKey(text.trim())
  if (!key || key instanceof WrappedKey) throw new Error(`${path} holds no master key (32 bytes in base64)`)
  return key
}

/**
 * Writes the key's file as a whole, and never replaces one. Several services start at the same time, and all must have
 * the same key.
 */
async function makeKey(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, `${createMasterKeyText()}\n`, { mode: 0o600, flag: 'wx' })
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(path, 'utf8')
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
