/** The OpenAPI 3.1 document, made from the mounted endpoints. */
import { BATCH_MESSAGES_MAX, LIST_LIMIT_MAX, MESSAGE_BYTES_MAX, REQUEST_BYTES_MAX } from '@fantail/contracts'
import { type Endpoint, TAGS } from '../http/endpoint.ts'
import { componentSchemas, type Json } from './component-schemas.ts'
import { type Asked, operation, SECURITY_SCHEMES } from './operations.ts'
import { HEADERS, type Shared } from './responses.ts'
import { webhooks } from './webhook-requests.ts'

const INTRODUCTION = `Fantail takes a message once and delivers it to every webhook and queue that is subscribed to its topic, with the
semantics of Amazon SNS. AWS clients can use the same server over Amazon’s own protocols.

## First steps

Make a topic, subscribe a webhook, publish, and see the result of each delivery:

\`\`\`sh
curl -sS -X PUT http://127.0.0.1:4100/v1/topics/orders
curl -sS -X POST http://127.0.0.1:4100/v1/topics/orders/subscriptions -H 'content-type: application/json' -d '{"endpoint":"http://127.0.0.1:4109/ok"}'
curl -sS -X POST http://127.0.0.1:4100/v1/topics/orders/messages -H 'content-type: application/json' -d '{"message":"hello"}'
curl -sS http://127.0.0.1:4100/v1/subscriptions
\`\`\`

\`getMessage\` and \`listDeliveries\` take the \`messageId\` that publishing answers.

## Authentication

In local mode no key is needed, unless \`FANTAIL_AUTH\` is on. Elsewhere each call carries the token of one:
\`Authorization: Bearer ft_…\`. A key has scopes, and may be bound to names by prefixes. A subscription, message or redrive
that a key may not see is answered like one that does not exist.

## Names

Topics and queues are named by their plain names or their ARNs, in paths URL-encoded. Subscriptions are named by id or
ARN. \`PUT\` creates or changes, so it can be repeated. \`PATCH\` changes what exists. In both, members that are left out
stay as they are, and \`null\` resets one to its default.

## Lists

A list answers up to ${LIST_LIMIT_MAX} items and \`nextCursor\`. Give that as \`cursor\` to read on; \`null\` ends the list.

## Errors

Every refusal of this API has the shape of \`Error\`: \`code\` for programs, \`message\` for people, and \`details\` for each wrong member.
Unknown members and query parameters are refused. A path that is known takes only its own methods; others get 405
(\`method_not_allowed\`) with \`Allow\`. A 503 to a change leaves open whether it was made, unless the message says so:
publish again with the same \`Idempotency-Key\`.

## Limits

A request has at most ${REQUEST_BYTES_MAX} bytes, a batch at most ${BATCH_MESSAGES_MAX} messages.
A message with its attributes has at most ${MESSAGE_BYTES_MAX} bytes. Bounds of members stand in their schemas.

## Webhooks

\`receiveNotification\` and \`receiveConfirmation\` describe what Fantail sends to subscribed endpoints, with the headers of
Standard Webhooks. \`receiveQueueBatch\` is the request that push consumers get.
`

const INFO = {
  title: 'Fantail',
  version: '1',
  summary: 'Publish a message once; every subscribed webhook and queue gets it.',
  description: INTRODUCTION,
  license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
}

const SERVERS = [{ url: '/', description: 'The server that this document comes from.' }]

export function openApiDocument(endpoints: Endpoint[], asked: Asked): Json {
  const paths: Record<string, Json> = {}
  const shared: Shared = { responses: {}, examples: {} }
  for (const endpoint of endpoints) {
    const operations = paths[endpoint.path] ?? {}
    operations[endpoint.method.toLowerCase()] = operation(endpoint, asked, shared)
    paths[endpoint.path] = operations
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: SERVERS,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: componentSchemas(),
      ...shared,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}
