/** The SMTP server of a run, with an address for each kind of mail. */
import { startMailServer, type TestMail, type TestMailServer } from '@fantail/test-kit'
import { Expiry, type ProviderFault } from './provider-faults.ts'
import { ProviderRecord } from './provider-record.ts'

export const MAIL_ADDRESSES = { mail: 'text@chaos.example.com', 'mail-json': 'json@chaos.example.org' }

const NEVER = new Promise<never>(() => undefined)
const REPLIES: Record<ProviderFault, () => 'drop' | string | Promise<never>> = {
  fails: () => '451 4.3.0 local error',
  throttles: () => '421 4.7.0 too many mails',
  hangs: () => NEVER,
  resets: () => 'drop',
  nonsense: () => '499 <h1>!</h1>',
  refuses: () => '554 5.7.1 no',
  expires: () => '535 5.7.8 the login has expired',
}

export interface MailProvider {
  server: TestMailServer
  /** By the name of the endpoint. */
  records: Record<keyof typeof MAIL_ADDRESSES, ProviderRecord>
  /** Resolves with the token of the confirmation mail to this endpoint. */
  tokenFor(name: keyof typeof MAIL_ADDRESSES): string | undefined
}

export async function startMailProvider(isHung: () => boolean): Promise<MailProvider> {
  const server = await startMailServer()
  const login = new Expiry()
  const records = { mail: new ProviderRecord(login), 'mail-json': new ProviderRecord(login) }
  const isAsking = ({ parsed }: TestMail) => parsed.subject?.endsWith('Subscription Confirmation') ?? false
  server.onMail = (mail) => {
    if (isAsking(mail)) return undefined
    const isJson = mail.to === MAIL_ADDRESSES['mail-json']
    const record = records[isJson ? 'mail-json' : 'mail']
    const text = mailText(mail, isJson)
    record.requested.add(text)
    if (isHung()) return NEVER
    const fault = record.faults.next(text)
    if (fault) return REPLIES[fault]()
    record.took(text)
    return undefined
  }
  const tokenFor = (name: keyof typeof MAIL_ADDRESSES) => {
    const asking = server.mails.find((mail) => isAsking(mail) && mail.to === MAIL_ADDRESSES[name])
    return /[?&]Token=([^&\s]+)/.exec(asking?.parsed.text ?? '')?.[1]
  }
  return { server, records, tokenFor }
}

function mailText({ parsed }: TestMail, isJson: boolean): string {
  const text = parsed.text ?? ''
  return isJson ? JSON.parse(text).Message : (text.split('\n', 1)[0] ?? '')
}
