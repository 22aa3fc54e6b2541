/** Credentials of push providers, made for each process. No provider accepts them. */
import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto'

type Attributes = Record<string, string>

/** Credentials for FCM, by the names of SNS's attributes. */
export function firebaseCredential(projectId = 'shop-4711'): Attributes {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = {
    type: 'service_account',
    project_id: projectId,
    private_key_id: 'a1b2c3',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: `sender@${projectId}.iam.gserviceaccount.com`,
    token_uri: 'https://oauth2.attacker.example/token',
  }
  return { PlatformCredential: JSON.stringify(account) }
}

/** APNs's: a signing key. */
export function appleCredential(): Attributes {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return {
    PlatformPrincipal: 'ABC123DEFG',
    PlatformCredential: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    ApplePlatformTeamID: 'DEF123GHIJ',
    ApplePlatformBundleID: 'com.example.shop',
  }
}

/** Web Push's: a VAPID pair. */
export function vapidCredential(): Attributes {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return {
    PlatformPrincipal: pair.getPublicKey().toString('base64url'),
    // A key that begins with zero bytes is shorter.
    PlatformCredential: Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
      .subarray(-32)
      .toString('base64url'),
    WebPushSubject: 'mailto:ops@example.com',
  }
}

/** A browser's subscription, with the keys that decrypt the notifications. */
export function browserSubscription(endpoint: string) {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const auth = randomBytes(16)
  const keys = { p256dh: pair.getPublicKey().toString('base64url'), auth: auth.toString('base64url') }
  return { token: JSON.stringify({ endpoint, keys }), pair, auth }
}
