/** Topics with boto3 and the AWS CLI, if this machine has a Python with them. Their request signatures are verified. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pythonsWithBoto3, run } from '../../harness/aws/pythons.ts'
import { useStack } from '../../harness/services/stack.ts'

const CALLS = join(import.meta.dirname, 'boto3_topics.py')
const SECRET = 'boto/secret+='
const ARN = 'arn:aws:sns:eu-central-1:444444444444:boto3'

const pythons = await pythonsWithBoto3()
const cli = await run('aws', ['--version']).then(
  ({ stdout, stderr }) => (stdout || stderr).split(' ')[0],
  () => undefined,
)
const stack = useStack({ workers: 0, env: { FANTAIL_ACCESS_KEYS: `AKIDBOTO:${SECRET}:444444444444` } })

if (pythons.size === 0) test('boto3 is here', ({ skip }) => skip('no Python with boto3'))

test.each([...pythons])('[190][192][194] boto3 %s', async (_, python) => {
  const { stdout } = await run(python, [CALLS, stack().api.url, SECRET])
  expect(JSON.parse(stdout)).toEqual({
    arn: ARN,
    requestId: 36,
    again: true,
    tags: [{ Key: 'team', Value: 'blue' }],
    name: 'é & <b> + %',
    key: false,
    untagged: [],
    topics: [{ TopicArn: ARN }],
    published: 36,
    batch: [['a'], ['b']],
    missing: ['NotFoundException', 'NotFound', 'Topic does not exist', 404],
    invalid: ['InvalidParameterException', 'InvalidParameter', 'Invalid parameter: Topic Name', 400],
    sms: [
      'AuthorizationErrorException',
      'AuthorizationError',
      'this is for keys of account 000000000000',
      403,
    ],
    deleted: [],
    forged: 'SignatureDoesNotMatch',
  })
})

test(`[190] the AWS CLI ${cli}`, async ({ skip }) => {
  if (cli === undefined) skip('no AWS CLI')
  const aws = async (...words: string[]) => {
    const env = { ...process.env, AWS_ACCESS_KEY_ID: 'AKIDBOTO', AWS_SECRET_ACCESS_KEY: SECRET }
    const address = ['--endpoint-url', stack().api.url, '--region', 'eu-central-1', '--output', 'json']
    const { stdout } = await run('aws', [...address, 'sns', ...words], { env })
    return stdout === '' ? undefined : JSON.parse(stdout)
  }
  const { TopicArn } = await aws('create-topic', '--name', 'cli', '--tags', 'Key=a,Value=b')
  expect(TopicArn).toBe(ARN.replace('boto3', 'cli'))
  const set = ['--attribute-name', 'DisplayName', '--attribute-value', 'Cli']
  await aws('set-topic-attributes', '--topic-arn', TopicArn, ...set)
  const { Attributes } = await aws('get-topic-attributes', '--topic-arn', TopicArn)
  expect(Attributes).toMatchObject({ DisplayName: 'Cli', Owner: '444444444444' })
  expect((await aws('publish', '--topic-arn', TopicArn, '--message', 'hello')).MessageId).toHaveLength(36)
  await aws('delete-topic', '--topic-arn', TopicArn)
  expect((await aws('list-topics')).Topics).toEqual([])
}, 120_000)
