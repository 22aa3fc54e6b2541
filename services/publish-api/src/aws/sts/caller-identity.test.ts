import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SnsApi, startSnsApi } from '../sns/sns.fixture.ts'

const BOB = { accessKeyId: 'AKIDBOB', secret: 'bob', account: '222222222222' }
const PARAMETERS = { Action: 'GetCallerIdentity', Version: '2011-06-15' }
let open: SnsApi
let keyed: SnsApi

beforeAll(async () => {
  open = await startSnsApi()
  keyed = await startSnsApi({ awsCredentials: [BOB] })
})
afterAll(async () => {
  await open.stop()
  await keyed.stop()
})

/** A POST, signed for STS with this secret. */
async function asked(api: SnsApi, accessKeyId: string, secretAccessKey: string, accept?: string) {
  const { hostname, host } = new URL(api.endpoint)
  const credentials = { accessKeyId, secretAccessKey }
  const signer = new SignatureV4({ credentials, region: 'us-east-1', service: 'sts', sha256: Sha256 })
  const body = new URLSearchParams(PARAMETERS).toString()
  const request = { method: 'POST', protocol: 'http:', hostname, path: '/', headers: { host }, body }
  const { headers } = await signer.sign({
    ...request,
    headers: { host, 'content-type': 'application/x-www-form-urlencoded', ...(accept && { accept }) },
  })
  const response = await fetch(`${api.endpoint}/`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

const answer = (arn: string, id: string, account: string) =>
  `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
  `<Arn>${arn}</Arn><UserId>${id}</UserId><Account>${account}</Account></GetCallerIdentityResult><ResponseMetadata>`

test('[222] a key’s holder gets its user and account', async () => {
  const { status, text } = await asked(keyed, BOB.accessKeyId, BOB.secret)
  const arn = 'arn:aws:iam::222222222222:user/AKIDBOB'
  expect([status, text]).toEqual([200, expect.stringContaining(answer(arn, 'AKIDBOB', '222222222222'))])
  const asJson = await asked(keyed, BOB.accessKeyId, BOB.secret, 'application/json')
  expect(JSON.parse(asJson.text).GetCallerIdentityResponse.GetCallerIdentityResult).toEqual({
    Arn: arn,
    UserId: 'AKIDBOB',
    Account: '222222222222',
  })
})

test('[222] the caller is the root of the account if no keys are required', async () => {
  for (const [key, account] of [
    ['fantail', '000000000000'],
    ['333333333333', '333333333333'],
  ] as const) {
    const { status, text } = await asked(open, key, 'any')
    expect([status, text]).toEqual([
      200,
      expect.stringContaining(answer(`arn:aws:iam::${account}:root`, account, account)),
    ])
  }
  const unsigned = await fetch(`${open.endpoint}/?${new URLSearchParams(PARAMETERS)}`)
  expect(await unsigned.text()).toContain('<Account>000000000000</Account>')
})

test('[222] a secret that is not the key’s learns nothing, nor does one who signs nothing', async () => {
  const guessed = await asked(keyed, BOB.accessKeyId, 'guessed')
  expect([guessed.status, guessed.text]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
  const unsigned = await fetch(`${keyed.endpoint}/?${new URLSearchParams(PARAMETERS)}`)
  expect([unsigned.status, await unsigned.text()]).toEqual([
    403,
    expect.stringContaining('<Code>MissingAuthenticationToken</Code>'),
  ])
})
