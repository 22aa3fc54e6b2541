/**
 * The RSA key that signs messages, and the certificate with which subscribers check them. Makes, checks and names such
 * pairs.
 */
import { createHash, createPrivateKey, KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** PEM texts. */
export interface SigningPair {
  privateKey: string
  certificate: string
}

const KEY_BITS = 2_048
const VALID_YEARS = 10
/** The certificate is valid from a day before, for subscribers whose clock is slow. */
const VALID_SINCE_MS = 86_400_000
const ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: KEY_BITS,
}

/**
 * A new key and its self-signed certificate. Node cannot build a certificate. The library that can is loaded only here.
 */
export async function createSigningPair(now = new Date()): Promise<SigningPair> {
  await import('reflect-metadata')
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, X509CertificateGenerator } =
    await import('@peculiar/x509')
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const notAfter = new Date(now)
  notAfter.setUTCFullYear(now.getUTCFullYear() + VALID_YEARS)
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      // A positive number, as RFC 5280 §4.1.2.2 requires.
      serialNumber: `01${randomBytes(15).toString('hex')}`,
      name: 'CN=Fantail message signing',
      notBefore: new Date(now.getTime() - VALID_SINCE_MS),
      notAfter,
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      ],
    },
    webcrypto,
  )
  const privateKey = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
  return checkedPair({ privateKey, certificate: certificate.toString('pem') })
}

/** The pair that an operator's settings name. undefined: they name none. Throws like `readSigningPair`. */
export async function openSigningPair(settings: {
  signingKeyFile?: string | undefined
  signingCertFile?: string | undefined
}): Promise<SigningPair | undefined> {
  const { signingKeyFile: key, signingCertFile: certificate } = settings
  return key && certificate ? await readSigningPair({ key, certificate }) : undefined
}

/** Reads an operator's pair from files. Throws if a file cannot be read, or if key and certificate do not match. */
export async function readSigningPair(files: { key: string; certificate: string }): Promise<SigningPair> {
  const [privateKey, certificate] = await Promise.all([
    readFile(files.key, 'utf8'),
    readFile(files.certificate, 'utf8'),
  ])
  return checkedPair({ privateKey, certificate })
}

/**
 * Returns the pair with its certificate as PEM. Throws if the key is not RSA, is too short, or does not belong to the
 * certificate.
 */
export function checkedPair({ privateKey, certificate }: SigningPair): SigningPair {
  const [key, parsed] = [parseKey(privateKey), parseCertificate(certificate)]
  if (key.asymmetricKeyType !== 'rsa') throw new Error('the signing key must be an RSA key')
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < KEY_BITS)
    throw new Error(`the signing key must have at least ${KEY_BITS} bits`)
  if (!parsed.checkPrivateKey(key))
    throw new Error('the signing certificate does not belong to the signing key')
  return { privateKey, certificate: parsed.toString() }
}

/** The first 32 hex digits of the certificate's SHA-256. */
export function certificateName(certificate: string): string {
  return createHash('sha256').update(parseCertificate(certificate).raw).digest('hex').slice(0, 32)
}

/** The path has the form of AWS's own URLs. */
export function certificatePath(certificate: string): string {
  return `/SimpleNotificationService-${certificateName(certificate)}.pem`
}

/** An error never contains a part of the key. */
function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new Error('the signing key is not a private key in PEM')
  }
}

function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new Error('the signing certificate is not an X.509 certificate in PEM')
  }
}
