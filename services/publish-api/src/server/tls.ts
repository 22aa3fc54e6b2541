/** Reads the API's certificate and key for https, and checks them before it listens. */
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { ApiSettings } from '@fantail/config'

/** PEM texts. */
export interface Tls {
  cert: string
  key: string
}

/** undefined: the settings name no files. Throws if the files cannot be used. */
export async function readTls(
  settings: Pick<ApiSettings, 'tlsCertFile' | 'tlsKeyFile'>,
): Promise<Tls | undefined> {
  const { tlsCertFile, tlsKeyFile } = settings
  if (!tlsCertFile || !tlsKeyFile) return undefined
  const [cert, key] = await Promise.all([readFile(tlsCertFile, 'utf8'), readFile(tlsKeyFile, 'utf8')])
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`FANTAIL_TLS_CERT_FILE and FANTAIL_TLS_KEY_FILE cannot be used: ${why}`)
  }
  return { cert, key }
}
