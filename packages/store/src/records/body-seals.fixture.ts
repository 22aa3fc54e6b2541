/** Seals with one key, as the vault does, and a process without a key. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { BodySeals } from './sealed-messages.ts'

const NONCE = 12
const TAG = 16

export function testSeals(): BodySeals {
  const secret = randomBytes(32)
  return {
    needKey: () => undefined,
    seal(text, context) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(Buffer.from(context))
      const box = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
      return box.toString('base64')
    },
    open(sealed, context) {
      const box = Buffer.from(sealed, 'base64')
      if (box.length < NONCE + TAG) return undefined
      const decipher = createDecipheriv('aes-256-gcm', secret, box.subarray(0, NONCE))
      decipher.setAAD(Buffer.from(context)).setAuthTag(box.subarray(-TAG))
      try {
        return decipher.update(box.subarray(NONCE, -TAG), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        return undefined
      }
    },
    isKeyError: () => false,
  }
}

const refuse = () => {
  throw new Error('there is no key')
}

export const KEYLESS: BodySeals = { needKey: refuse, seal: refuse, open: refuse, isKeyError: () => true }
