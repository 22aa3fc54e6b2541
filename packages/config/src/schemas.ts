/** Parses environment variables. Each error states the bound. None repeats the value, which may be secret. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject, jsonOf } from '@fantail/contracts'
import {
  isAddressRule,
  isArnPattern,
  isFunctionName,
  isMailAddress,
  isRedisStream,
  isStreamName,
  type KmsKeys,
  type MailSender,
  parseFunctionArn,
  parseStreamArn,
} from '@fantail/policy'
import { type MasterKey, parseMasterKey } from '@fantail/vault'
import { z } from 'zod'

/** `src` and `dist` are equally deep in the repository. */
export const REPOSITORY_ROOT = fileURLToPath(new URL('../../../', import.meta.url))

interface Bounds {
  min: number
  max: number
}

export const wholeNumber = ({ min, max }: Bounds) =>
  z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      message: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number)

export const fraction = ({ min, max }: Bounds) =>
  z
    .string()
    .refine((text) => /^\d+(\.\d+)?$/.test(text) && Number(text) >= min && Number(text) <= max, {
      message: `must be a number from ${min} to ${max}`,
    })
    .transform(Number)

export const flag = () =>
  z
    .string()
    .refine((text) => ['true', 'false', '1', '0'].includes(text), { message: 'must be true or false' })
    .transform((text) => text === 'true' || text === '1')

export const oneOf = <const T extends string>(words: readonly T[]) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` })

export const matching = (pattern: RegExp, message: string) => z.string().regex(pattern, { message })

/** A URL of one of the schemes (`http:`), with no slash at its end. */
export const url = (schemes: readonly string[]) =>
  z
    .string()
    .refine((text) => schemes.includes(URL.parse(text)?.protocol ?? ''), {
      message: `must be a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    })
    .transform((text) => text.replace(/\/+$/, ''))

/** URL of an SMTP server. It may contain a user name and password. */
export const smtpUrl = () =>
  z.string().refine(isSmtpUrl, {
    message:
      'must be smtp://host:port or smtps://host:port, with user:password@ before the host if the server wants a login; special characters in them percent-encoded',
  })

function isSmtpUrl(text: string): boolean {
  const { protocol = '', hostname, pathname, search, hash, username, password } = URL.parse(text) ?? {}
  if (!['smtp:', 'smtps:'].includes(protocol) || !hostname || search || hash) return false
  return ['', '/'].includes(pathname ?? '') && isDecodable(`${username}${password}`)
}

function isDecodable(text: string): boolean {
  return attempt(() => decodeURIComponent(text)) !== undefined
}

const SENDER = /^(?:([^<>\p{Cc}]*)<([^<>]+)>|([^<>]+))$/u

/** `address`, or `Name <address>`. */
export const mailSender = () =>
  z.string().transform((text, { addIssue }): MailSender => {
    const [, name = '', bracketed, bare] = SENDER.exec(text) ?? []
    const address = (bracketed ?? bare ?? '').trim()
    if (isMailAddress(address)) return { name: name.trim() || 'Notifications', address }
    addIssue('must be a mail address, or a name and a mail address: News <news@example.com>')
    return z.NEVER
  })

/** A relative folder is relative to the repository, so that every service resolves it alike. */
export const folder = () => z.string().transform((text) => resolve(REPOSITORY_ROOT, text))

/** Resolved like a folder. */
export const file = folder

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The text of a file that holds certificates in PEM. */
export const certificatesFile = () =>
  textFile('must name a file with certificates in PEM', (text) => {
    const certificates = text.match(CERTIFICATE) ?? []
    for (const certificate of certificates) new X509Certificate(certificate)
    return certificates.length > 0
  })

/** The text of a file that holds a private key in PEM. */
export const privateKeyFile = () =>
  textFile('must name a file with a private key in PEM that needs no passphrase', (text) => {
    return createPrivateKey(text).type === 'private'
  })

/** The text of a file that holds a private RSA key in PEM. */
export const rsaKeyFile = () =>
  textFile('must name a file with a private RSA key in PEM that needs no passphrase', (text) => {
    const key = createPrivateKey(text)
    return key.type === 'private' && key.asymmetricKeyType === 'rsa'
  })

/**
 * Reads the file when settings are parsed, so that its problem is reported together with all others. `isRight` may also
 * throw.
 */
function textFile(message: string, isRight: (text: string) => boolean) {
  return file().transform((path, { addIssue }): string => {
    const text = attempt(() => readFileSync(path, 'utf8'))
    if (text === undefined) addIssue('must name a file that can be read')
    else if (!attempt(() => isRight(text))) addIssue(message)
    else return text
    return z.NEVER
  })
}

function attempt<T>(take: () => T): T | undefined {
  try {
    return take()
  } catch {
    return undefined
  }
}

/** An access key of the AWS protocols, with the secret that signs its requests. */
export interface AwsCredential {
  accessKeyId: string
  secret: string
  /** The account that the key acts for. If absent and the key's id has twelve digits, the id is the account. */
  account?: string
}

const CREDENTIAL = /^([A-Za-z0-9_]{1,128}):([^\s:,]{1,256})(?::(\d{12}))?$/

/** `AKID:SECRET[:ACCOUNT]`, separated by commas. No key may occur twice. */
export const awsCredentials = () =>
  z.string().transform((text, { addIssue }): AwsCredential[] => {
    const matches = text.split(',').map((entry) => CREDENTIAL.exec(entry.trim()))
    if (matches.includes(null)) {
      addIssue('must be entries ACCESSKEYID:SECRET or ACCESSKEYID:SECRET:ACCOUNT, separated by commas')
      return z.NEVER
    }
    const credentials = matches.map((match) => {
      const [, accessKeyId = '', secret = '', account] = match ?? []
      return { accessKeyId, secret, ...(account !== undefined && { account }) }
    })
    const ids = new Set(credentials.map(({ accessKeyId }) => accessKeyId))
    if (ids.size < credentials.length) addIssue('must name each access key once')
    return credentials
  })

const ORGANIZATION = /^(\d{12})=(o-[a-z0-9]{10,32})$/

/** `ACCOUNT=ORGANIZATION`, separated by commas. */
export const organizationMap = () =>
  z.string().transform((text, { addIssue }): ReadonlyMap<string, string> => {
    const matches = text.split(',').map((entry) => ORGANIZATION.exec(entry.trim()))
    if (matches.includes(null)) {
      addIssue('must be entries ACCOUNT=ORGANIZATION, as in 111122223333=o-exampleorgid, separated by commas')
      return z.NEVER
    }
    const map = new Map(matches.map((match) => [match?.[1] ?? '', match?.[2] ?? '']))
    if (map.size < matches.length) addIssue('must name each account once')
    return map
  })

const KMS_KEY = /^([\w:/-]{1,2048})=(\*|disabled|\d{12}(?:\+\d{12})*)$/

export const kmsKeys = () =>
  z.string().transform((text, { addIssue }): KmsKeys => {
    const matches = text.split(',').map((entry) => KMS_KEY.exec(entry.trim()))
    if (matches.includes(null)) {
      addIssue('must be entries KEY=ACCOUNT+ACCOUNT, KEY=* or KEY=disabled, separated by commas')
      return z.NEVER
    }
    const map = new Map(matches.map((match) => [match?.[1] ?? '', useOf(match?.[2] ?? '')]))
    if (map.size < matches.length) addIssue('must name each key once')
    return map
  })

function useOf(text: string): '*' | 'disabled' | string[] {
  return text === '*' || text === 'disabled' ? text : text.split('+')
}

const CLIENT_CREDENTIALS = /^([A-Za-z0-9_]{1,128}):([^\s:,]{1,256})(?::([^\s:,]{1,4096}))?$/

/**
 * Credentials with which Fantail signs its own requests to AWS. Temporary credentials also have a session token.
 * `default`: the credentials that AWS's SDKs would find on this machine.
 */
export const awsClientCredentials = () =>
  z.string().transform((text, { addIssue }) => {
    if (text === 'default') return text
    const [, accessKeyId, secretAccessKey, sessionToken] = CLIENT_CREDENTIALS.exec(text) ?? []
    if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, sessionToken }
    addIssue('must be ACCESSKEYID:SECRET, ACCESSKEYID:SECRET:SESSIONTOKEN, or default')
    return z.NEVER
  })

/** Patterns of ARNs, separated by commas. */
export const arnPatterns = () =>
  z.string().transform((text, { addIssue }): string[] => {
    const patterns = text.split(',').map((entry) => entry.trim())
    const wrong = patterns.find((pattern) => !isArnPattern(pattern))
    if (wrong !== undefined) {
      addIssue(`must be patterns of ARNs with all six parts, separated by commas; '${wrong}' is not one`)
    }
    return patterns
  })

/** Key of the entry that applies to everything without its own entry. */
const ANY = '*'

interface UrlMap {
  /** Keys, in words. */
  keys: string
  isKey: (text: string) => boolean
  isUrl: (url: URL) => boolean
  /** URLs, in words. */
  urls: string
}

/** A JSON object of URLs by key. Errors name only the key, because a URL may contain a password. */
const urlMap = ({ keys, isKey, isUrl, urls }: UrlMap) =>
  z.string().transform((text, { addIssue }): Record<string, string> => {
    const map = jsonOf(text)
    if (!isObject(map)) {
      addIssue(`must be a JSON object of URLs by ${keys}`)
      return z.NEVER
    }
    for (const [key, value] of Object.entries(map)) {
      const url = typeof value === 'string' ? URL.parse(value) : null
      if (!isKey(key)) addIssue(`must have ${keys} as its keys; '${key}' is not one`)
      else if (!url || !isUrl(url) || !isDecodable(url.username + url.password))
        addIssue(`must have ${urls} for '${key}'`)
    }
    return map as Record<string, string>
  })

const isHttp = ({ protocol }: URL) => protocol === 'http:' || protocol === 'https:'

export const functionMap = () =>
  urlMap({
    keys: 'names or ARNs of functions, or *',
    isKey: (text) => text === ANY || isFunctionName(text) || parseFunctionArn(text) !== undefined,
    isUrl: isHttp,
    urls: 'an http or https URL',
  })

export const queueMap = () =>
  urlMap({ keys: 'patterns of ARNs', isKey: isArnPattern, isUrl: isHttp, urls: 'an http or https URL' })

export const streamMap = () =>
  urlMap({
    keys: 'names or ARNs of streams, or *',
    isKey: (text) => text === ANY || isStreamName(text) || parseStreamArn(text) !== undefined,
    isUrl: (url) =>
      isHttp(url) || isBucket(url) || isRedisStream(url) || (url.protocol === 'file:' && url.host === ''),
    urls: 'an http or https URL, file:///folder, s3://bucket, s3+https://host/bucket or redis://host?stream=key',
  })

const isBucket = ({ protocol, host, pathname }: URL) =>
  host !== '' && (protocol === 's3:' || (/^s3\+https?:$/.test(protocol) && pathname.length > 1))

/** A folder or a bucket. */
export const archivePlace = () =>
  z.string().refine(
    (text) => {
      const url = URL.parse(text)
      return url !== null && (isBucket(url) || (url.protocol === 'file:' && url.host === ''))
    },
    { message: 'must be file:///folder, s3://bucket/prefix or s3+https://host/bucket/prefix' },
  )

const MASTER_KEY =
  'must be 32 random bytes in base64 or as 64 hex digits, or a wrapped key, as `fantail secrets create` makes them'

/** One key. The error never repeats the text. */
export const masterKey = () =>
  z.string().transform((text, { addIssue }): MasterKey => {
    const key = parseMasterKey(text)
    if (key) return key
    addIssue(MASTER_KEY)
    return z.NEVER
  })

/** Several, separated by commas. */
export const masterKeys = () =>
  z.string().transform((text, { addIssue }): MasterKey[] => {
    const keys = text.split(',').map((entry) => parseMasterKey(entry.trim()))
    if (keys.includes(undefined)) addIssue(`${MASTER_KEY}, separated by commas`)
    return keys.filter((key) => key !== undefined)
  })

const VAULT_LOGIN = /^(token|approle|kubernetes):([^\s:]{1,4096})(?::([^\s:]{1,4096}))?$/

/** How Fantail logs in at HashiCorp Vault. The error never repeats the text. */
export const vaultLogin = () =>
  z.string().transform((text, { addIssue }) => {
    const [, by, name = '', secret] = VAULT_LOGIN.exec(text) ?? []
    if (by === 'token' && secret === undefined) return { by, token: name } as const
    if (by === 'approle' && secret !== undefined) return { by, roleId: name, secretId: secret } as const
    if (by === 'kubernetes' && secret === undefined) return { by, role: name } as const
    addIssue('must be token:TOKEN, approle:ROLEID:SECRETID or kubernetes:ROLE')
    return z.NEVER
  })

/** Addresses, CIDRs, host names, `*.` and a domain; separated by commas. */
export const addressRules = () =>
  z.string().transform((text, { addIssue }): string[] => {
    const rules = text.split(',').map((entry) => entry.trim())
    const wrong = rules.find((rule) => !isAddressRule(rule))
    if (wrong !== undefined) {
      addIssue(
        `must be addresses, CIDRs, host names or *.domains, separated by commas; '${wrong}' is not one`,
      )
    }
    return rules
  })

/** Addresses and CIDRs. A name could not be compared with the address of a connection. */
export const addressRanges = () =>
  addressRules().refine((rules) => rules.every((rule) => isIP(rule.split('/', 1)[0] ?? '') !== 0), {
    error: 'must be addresses and CIDRs, separated by commas',
  })

/**
 * Origins of web pages, separated by commas. Patterns are refused, because one could also match somebody else's page.
 */
export const origins = () =>
  z.string().transform((text, { addIssue }): string[] => {
    const entries = text.split(',').map((entry) => entry.trim())
    const wrong = entries.find((entry) => !isOrigin(entry))
    if (wrong !== undefined) {
      addIssue(`must be origins such as https://app.example.com, separated by commas; '${wrong}' is not one`)
    }
    return entries
  })

/** A URL parser takes `*` and `;` in hosts. They are a pattern, and the end of a rule in a header. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (!/^https?:\/\//.test(text) || url?.origin !== text) return false
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return isAddressRule(host) && !/[*/]/.test(host)
}
