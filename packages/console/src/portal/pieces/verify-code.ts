/** Code that checks the signature of a message. The body must be the text as it came. */
export const VERIFY_CODE = `import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)
const message = webhook.verify(bodyAsText, headers)`

/** Libraries of Standard Webhooks, by language. */
export const VERIFY_LIBRARIES = 'https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries'
