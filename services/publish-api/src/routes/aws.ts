/**
 * Amazon's own protocols on one path: AWS Query of SNS and SQS, AWS JSON of SQS, and the links in delivered messages.
 */
import { createAwsApi } from '../aws/serve.ts'
import type { ApiDeps } from '../deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { type Answer, type AnswerDoc, type Endpoint, endpoint } from '../http/endpoint.ts'

const tag = 'AWS'

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
  'As the AWS SDKs and the AWS CLI send it: AWS Query with `Version` 2010-03-31 for SNS, 2012-11-05 for SQS and 2011-06-15 for STS’s GetCallerIdentity, AWS JSON 1.0 ' +
  'with `X-Amz-Target: AmazonSQS.{Operation}` for SQS. Errors come in the same form, with the codes of the service.'
const GET_DESCRIPTION =
  'The confirm and unsubscribe links of delivered messages are such requests. Parameters stand in the query: `Action`, …'
const QUEUE_PATH = 'The queue’s URL stands for `QueueUrl`.'

/** Somebody who opened the address in a browser: no AWS client asks for HTML, and every one names an operation. */
function isVisitor(request: ApiRequest): boolean {
  return request.header('accept')?.includes('text/html') === true && new URL(request.url).search === ''
}

const TO_DOCS: Answer = { status: 303, text: '', headers: { Location: '/docs', Vary: 'Accept' } }

export function awsRoutes(deps: ApiDeps): Endpoint[] {
  const handle = createAwsApi(deps)
  const common = { tag, queryIs: 'own' as const, bodyIs: 'own' as const, answers, errors: [], handle }
  const queue = { ...common, path: '/{account}/{queue}', where: { account: '\\d{12}' } }
  return [
    endpoint({
      ...common,
      method: 'POST',
      path: '/',
      summary: 'Call Amazon SNS or SQS by their own protocols',
      description: POST_DESCRIPTION,
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: '/',
      summary: 'Follow a link, or call by AWS Query',
      description: GET_DESCRIPTION,
      answers: {
        ...answers,
        303: { description: 'A browser’s request that asks for nothing is led to `/docs`' },
      },
      handle: (call) => (isVisitor(call.request) ? TO_DOCS : handle(call)),
    }),
    endpoint({
      ...queue,
      method: 'POST',
      summary: 'Call SQS on a queue’s URL by AWS Query',
      description: QUEUE_PATH,
    }),
    endpoint({
      ...queue,
      method: 'GET',
      summary: 'Call SQS on a queue’s URL by AWS Query in the URL',
      description: QUEUE_PATH,
    }),
  ]
}
