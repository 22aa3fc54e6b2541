/**
 * Amazon's own protocols on one path: AWS Query of SNS and SQS, AWS JSON of SQS, and the links in delivered messages.
 */
import { z } from 'zod'
import { isNavigation } from '../auth/foreign-page.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { type Answer, type AnswerDoc, type Endpoint, endpoint } from '../http/endpoint.ts'
import { createAwsApi } from './serve.ts'

const tag = 'AWS' as const

const refused = (description: string): AnswerDoc => ({ description, contentType: 'text/xml' })

const answers: Record<number, AnswerDoc> = {
  200: {
    description: 'Done; XML, or JSON for AWS JSON and where `Accept` asks AWS Query for it',
    contentType: 'text/xml',
  },
  400: refused('Refused: `InvalidParameter`, `InvalidAction`, …'),
  403: refused('Not allowed: `AuthorizationError`, `SignatureDoesNotMatch`, …'),
  404: refused('`NotFound`; a GET of a queue’s URL without Action'),
  413: refused('`RequestEntityTooLarge`'),
  415: refused('`UnsupportedMediaType`'),
  429: refused('`Throttled`'),
  500: refused('`InternalFailure`'),
  503: refused('`ServiceUnavailable`'),
}

const POST_DESCRIPTION =
  'AWS SDKs and the AWS CLI send such requests. AWS Query has the `Version` 2010-03-31 for SNS, 2012-11-05 for SQS, and ' +
  '2011-06-15 for GetCallerIdentity of STS. AWS JSON 1.0 for SQS has `X-Amz-Target: AmazonSQS.{Operation}`. Errors come in ' +
  'the same form, with the codes of the service.'
const AWS_CALL = {
  Action: 'Publish',
  Version: '2010-03-31',
  TopicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
  Message: 'hello',
}
const GET_DESCRIPTION =
  'The confirm and unsubscribe links of delivered messages are such requests. Parameters are in the query: `Action`, …'
const QUEUE_PATH =
  'The queue’s URL replaces the parameter `QueueUrl`. Older AWS clients call queues in this way. Answers are XML.'

const Account = z.string().describe('Account that the queue belongs to: 12 digits.')
const QueueName = z.string().describe('Plain name of the queue, as its URL ends.')

const AwsQuery = z.looseObject({
  Action: z
    .string()
    .optional()
    .describe('Operation to call, like `ConfirmSubscription`. Its parameters follow.'),
  Version: z
    .string()
    .optional()
    .describe(
      'Version of the service’s API: `2010-03-31` for SNS, `2012-11-05` for SQS. Links leave it out.',
    ),
})

const FORM = 'application/x-www-form-urlencoded'
const AwsForm = z.record(z.string(), z.string()).meta({
  description: 'AWS Query: `Action`, `Version` and the operation’s parameters.',
  examples: [AWS_CALL],
})
const BODIES = {
  [FORM]: AwsForm,
  'application/x-amz-json-1.0': z.record(z.string(), z.unknown()).meta({
    description: 'AWS JSON for SQS: the operation’s parameters; `X-Amz-Target` names the operation.',
    examples: [{ QueueUrl: 'http://127.0.0.1:4100/000000000000/jobs', MessageBody: 'first job' }],
  }),
}

/** Whether a browser opened the address. AWS clients do not accept HTML, and always name an operation. */
function isVisitor(request: ApiRequest): boolean {
  return request.header('accept')?.includes('text/html') === true && new URL(request.url).search === ''
}

/** The pages that ask by a button whether the operation of a link is meant. */
const PAGES = new Map([
  ['ConfirmSubscription', 'confirmation.html'],
  ['Unsubscribe', 'unsubscribe.html'],
])

/**
 * The page for a link that a browser opens. Browsers also open links ahead, or because another page sends them there.
 * Undefined for other requests. Programs that visit a link are no browser, whatever they accept.
 */
function pageOf(request: ApiRequest): Answer | undefined {
  if (!isNavigation(request)) return undefined
  const { searchParams, search } = new URL(request.url)
  const page = PAGES.get(searchParams.get('Action') ?? '')
  if (page === undefined) return undefined
  // Relative, because FANTAIL_PUBLIC_URL may have a path.
  return { status: 303, text: '', headers: { Location: page + search, 'Cache-Control': 'no-store' } }
}

/** The page for people. */
function toPage(settings: ApiDeps['settings']): Answer {
  const location = settings.console === 'off' ? '/docs' : '/console/'
  return { status: 303, text: '', headers: { Location: location, Vary: 'Accept' } }
}

export function awsRoutes(deps: ApiDeps): Endpoint[] {
  const handle = createAwsApi(deps)
  const common = { tag, queryIs: 'own' as const, bodyIs: 'own' as const, answers, handle }
  const queue = {
    ...common,
    path: '/{account}/{queue}',
    params: { account: Account, queue: QueueName },
    where: { account: '\\d{12}' },
  }
  return [
    endpoint({
      ...common,
      id: 'callAws',
      method: 'POST',
      path: '/',
      summary: 'Call Amazon SNS or SQS by their own protocols',
      description: POST_DESCRIPTION,
      otherBodies: BODIES,
    }),
    endpoint({
      ...common,
      id: 'followAwsLink',
      method: 'GET',
      path: '/',
      summary: 'Follow a link, or call by AWS Query',
      description: GET_DESCRIPTION,
      query: AwsQuery,
      answers: {
        ...answers,
        303: {
          description:
            'A browser is led to the page that asks about a link, or to the console or `/docs` if it asks for nothing',
        },
      },
      handle: (call) =>
        isVisitor(call.request) ? toPage(deps.settings) : (pageOf(call.request) ?? handle(call)),
    }),
    endpoint({
      ...queue,
      id: 'callAwsQueue',
      method: 'POST',
      summary: 'Call SQS on a queue’s URL by AWS Query',
      description: QUEUE_PATH,
      otherBodies: { [FORM]: AwsForm },
    }),
    endpoint({
      ...queue,
      id: 'callAwsQueueByLink',
      method: 'GET',
      summary: 'Call SQS on a queue’s URL by AWS Query in the URL',
      description: QUEUE_PATH,
      query: AwsQuery,
    }),
  ]
}
