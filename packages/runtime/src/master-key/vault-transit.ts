/**
 * Wraps master keys by a key of the secrets engine Transit of HashiCorp Vault, over its HTTP API. Each request logs in
 * again, because keys are unwrapped only when a process starts, and no token has to be renewed.
 */
import { readFile } from 'node:fs/promises'
import { KEY_REQUEST_MS, type KeyService, type KeyServiceSettings } from './key-service.ts'

type VaultLogin = NonNullable<KeyServiceSettings['vaultLogin']>

interface VaultAnswer {
  auth?: { client_token?: unknown }
  data?: { ciphertext?: unknown; plaintext?: unknown }
  errors?: unknown
}

/** Where Kubernetes puts the token of a pod's service account. */
const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token'
const PREFIX = 'vault:'
/** Characters of Vault's own error that an error repeats. */
const REASON_MAX = 300

export function createVaultTransit(
  { vaultUrl, vaultLogin }: KeyServiceSettings,
  podToken = SERVICE_ACCOUNT_TOKEN,
): KeyService {
  const post = async (path: string, body: object, token?: string): Promise<VaultAnswer> => {
    if (vaultUrl === undefined) throw new Error('FANTAIL_VAULT_URL must be set for a key that Vault wraps')
    const headers = { 'X-Vault-Request': 'true', ...(token !== undefined && { 'X-Vault-Token': token }) }
    const signal = AbortSignal.timeout(KEY_REQUEST_MS)
    const url = `${vaultUrl.replace(/\/+$/, '')}/v1/${path}`
    let reply: Response
    try {
      reply = await fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        redirect: 'error',
        signal,
      })
    } catch (error) {
      throw new Error(`Vault cannot be reached at ${path}: ${reasonOf(error)}`)
    }
    const answer = (await reply.json().catch(() => ({}))) as VaultAnswer
    if (reply.ok) return answer
    throw new Error(`Vault answered ${reply.status} at ${path}${errorsOf(answer)}`)
  }
  const tokenOf = async (): Promise<string> => {
    if (!vaultLogin) throw new Error('FANTAIL_VAULT_LOGIN must be set for a key that Vault wraps')
    if (vaultLogin.by === 'token') return vaultLogin.token
    const { auth } = await post(`auth/${vaultLogin.by}/login`, await loginBody(vaultLogin, podToken))
    return textOf(auth?.client_token, 'token')
  }
  const ask = async (verb: 'encrypt' | 'decrypt', name: string, body: object) => {
    const at = name.lastIndexOf('/')
    const path = `${name.slice(0, at)}/${verb}/${name.slice(at + 1)}`
    return (await post(path, body, await tokenOf())).data
  }
  return {
    async wrap({ name }, bytes) {
      const data = await ask('encrypt', name, { plaintext: bytes.toString('base64') })
      return textOf(data?.ciphertext, 'ciphertext').replace(PREFIX, '')
    },
    async unwrap({ name }, ciphertext) {
      const data = await ask('decrypt', name, { ciphertext: `${PREFIX}${ciphertext}` })
      return Buffer.from(textOf(data?.plaintext, 'plaintext'), 'base64')
    },
  }
}

async function loginBody(login: Exclude<VaultLogin, { by: 'token' }>, podToken: string): Promise<object> {
  if (login.by === 'approle') return { role_id: login.roleId, secret_id: login.secretId }
  return { role: login.role, jwt: (await readFile(podToken, 'utf8')).trim() }
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new Error(`Vault’s answer has no ${what}`)
}

function errorsOf({ errors }: VaultAnswer): string {
  const texts = Array.isArray(errors) ? errors.filter((text) => typeof text === 'string') : []
  return texts.length === 0 ? '' : `: ${texts.join('; ').slice(0, REASON_MAX)}`
}

/** The error of `fetch` says only that it has failed. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  if (cause instanceof Error) return cause.message || String((cause as NodeJS.ErrnoException).code)
  return error instanceof Error ? error.message : 'unknown'
}
