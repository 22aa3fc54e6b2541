/** Makes texts of master keys for FANTAIL_MASTER_KEY: new ones, and wrapped ones. */
import { type KeyServiceSettings, unwrapKey, wrapKey } from '@fantail/runtime'
import {
  createMasterKeyText,
  type MasterKey,
  masterKeyBytes,
  parseMasterKey,
  parseWrappingKey,
  WrappedKey,
  type WrappingKey,
  wrappedKeyText,
} from '@fantail/vault'

/** `by`: the key that wraps it, as parseWrappingKey reads it. Absent: nothing wraps it. */
export async function newKeyText(by: string | undefined, settings: KeyServiceSettings): Promise<string> {
  const text = createMasterKeyText()
  return by === undefined ? text : wrappedText(text, wrappingKey(by), settings)
}

/** The master key under another wrapping key, or under one for the first time. It stays the same key. */
export async function rewrappedText(
  by: string,
  { masterKey, masterKeyText }: { masterKey?: MasterKey | undefined; masterKeyText: string },
  settings: KeyServiceSettings,
): Promise<string> {
  const to = wrappingKey(by)
  if (!masterKey) throw new Error('FANTAIL_MASTER_KEY is not set, so it cannot be wrapped')
  if (!(masterKey instanceof WrappedKey)) return wrappedText(masterKeyText, to, settings)
  const bytes = await unwrapKey(masterKey, settings)
  masterKey.unlock(bytes)
  return wrappedText(bytes.toString('base64'), to, settings)
}

async function wrappedText(text: string, by: WrappingKey, settings: KeyServiceSettings): Promise<string> {
  const bytes = masterKeyBytes(text)
  const id = parseMasterKey(text)?.id
  if (!bytes || id === undefined) throw new Error('FANTAIL_MASTER_KEY is not a master key')
  const made = wrappedKeyText(new WrappedKey(id, by, await wrapKey({ id, bytes }, by, settings)))
  if (!(parseMasterKey(made) instanceof WrappedKey)) throw new Error(`${by.name} has not wrapped the key`)
  return made
}

function wrappingKey(text: string): WrappingKey {
  const key = parseWrappingKey(text)
  if (key) return key
  throw new Error(
    'the wrapping key must be awskms: and the ARN of a key of AWS KMS, or vault: and the path and name of a key, as in vault:transit/fantail',
  )
}
